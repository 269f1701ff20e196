"""What people told other assistants, brought along: formats of other programs are read as records, and records come in as memories."""
