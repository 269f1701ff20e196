"""What commands of people have done to a store, in its hub or in their own process."""
