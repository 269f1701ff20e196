"""The store over a PostgreSQL server (15 or later), which any number of hubs on any number of machines share."""
