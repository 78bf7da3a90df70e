module bookings

go 1.24
