"""Books rooms. Its rows are in PostgreSQL, with rooms cached in Redis, or all in a file of SQLite."""

import json
import os
import sqlite3
import threading
from pathlib import Path

import redis
from fastapi import FastAPI, HTTPException, Response
from psycopg_pool import ConnectionPool
from pydantic import BaseModel

app = FastAPI()
file = os.environ.get("SQLITE")
if file:
    cache = None
    lock = threading.Lock()
    db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    db.execute("PRAGMA journal_mode = wal")
    db.executescript((Path(__file__).parent / "sqlite.sql").read_text())

    def one(sql, *values):
        """Returns the first row of a statement, or None."""
        with lock:
            return db.execute(sql.replace("%s", "?"), values).fetchone()
else:
    cache = redis.Redis.from_url("redis://" + os.environ["CACHE"], decode_responses=True)
    pool = ConnectionPool(os.environ["DATABASE_URL"], min_size=1, max_size=int(os.environ["POOL"]), open=True)

    def one(sql, *values):
        """Returns the first row of a statement, or None."""
        with pool.connection() as connection:
            return connection.execute(sql, values).fetchone()


class Booking(BaseModel):
    room: int


@app.get("/health")
def health():
    if cache:
        cache.ping()
    return {"ok": one("SELECT 1") == (1,)}


@app.get("/rooms/{id}")
def room(id: int):
    key = f"room:{id}"
    text = cache.get(key) if cache else None
    seen = "hit" if text else "miss"
    if not text:
        row = one("SELECT beds FROM rooms WHERE id = %s", id)
        if row is None:
            raise HTTPException(404, "room not found")
        text = json.dumps({"id": id, "beds": row[0]})
        if cache:
            cache.set(key, text, ex=60)
    return Response(text, media_type="application/json", headers={"X-Cache": seen})


@app.post("/bookings", status_code=201)
def book(booking: Booking):
    return {"id": one("INSERT INTO bookings (room) VALUES (%s) RETURNING id", booking.room)[0]}


@app.get("/bookings/count")
def count():
    return {"count": one("SELECT count(*) FROM bookings")[0]}
