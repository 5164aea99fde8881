"""Words and disfluencies of real people: as a stock model writes them, and after training on other people."""
