module orders

go 1.24
