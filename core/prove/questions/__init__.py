"""What has to hold for a replacement to be right: pairs of terms, reads and writes of memory."""
