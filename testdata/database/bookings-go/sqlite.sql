CREATE TABLE rooms (id integer PRIMARY KEY, beds int NOT NULL);
CREATE TABLE bookings (id integer PRIMARY KEY, room int NOT NULL REFERENCES rooms);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO rooms SELECT i, 1 + i % 4 FROM n;
INSERT INTO bookings (room) SELECT id FROM rooms WHERE id <= 100;
