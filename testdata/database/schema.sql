-- schema.sql
CREATE TABLE rooms (id int PRIMARY KEY, beds int NOT NULL);
CREATE TABLE bookings (id bigserial PRIMARY KEY, room int NOT NULL REFERENCES rooms);
INSERT INTO rooms SELECT i, 1 + i % 4 FROM generate_series(1, 1000) i;
INSERT INTO bookings (room) SELECT id FROM rooms WHERE id <= 100;
