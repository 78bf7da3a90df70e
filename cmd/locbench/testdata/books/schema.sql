CREATE TABLE books (id serial PRIMARY KEY, title text NOT NULL);
INSERT INTO books (title) SELECT 'book ' || n FROM generate_series(1, 1000) n;
