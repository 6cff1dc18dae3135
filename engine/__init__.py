"""The decoding engine: one target, one loop, drafters plugged in. Never imports gradio."""
