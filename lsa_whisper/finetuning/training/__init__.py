"""One training run: model, data, loss, optimizer, evaluation on the dev set, checkpoints."""
