"""A site with nothing but streams that tests can hold, count and look into."""
