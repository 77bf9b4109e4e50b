"""What a changed query keeps of the checkpoint of an earlier one, and which rows it must read again."""
