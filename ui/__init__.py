"""The web page: layout, wiring and the stream to the browser. Gradio, never torch."""
