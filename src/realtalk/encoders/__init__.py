"""Small models that ship with the package (ONNX, 8-bit weights): loading and batching."""
