"""Long-form decoding: a whole recording, window by window, without repetition loops, resumable."""
