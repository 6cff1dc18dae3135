"""Gradio's own parts in the page's paper colours. System fonts only: no request leaves."""

from __future__ import annotations

import gradio as gr


def page_theme() -> gr.themes.Base:
    """The theme; the colours are those of assets/player.css."""
    paper, card, ink, dim, line = "#f7f6f2", "#ffffff", "#1b1f27", "#626874", "#e3e1da"
    night, slate, light, mist, edge = "#0e1218", "#161b23", "#e8eaee", "#98a1b0", "#2a313c"
    theme = gr.themes.Base(
        primary_hue=gr.themes.colors.slate,
        neutral_hue=gr.themes.colors.gray,
        font=[
            "system-ui",
            "Noto Sans CJK KR",
            "Apple SD Gothic Neo",
            "Malgun Gothic",
            "sans-serif",
        ],
        font_mono=["ui-monospace", "Noto Sans Mono CJK KR", "monospace"],
        radius_size=gr.themes.sizes.radius_md,
    )
    theme.set(
        body_background_fill=paper,
        body_background_fill_dark=night,
        body_text_color=ink,
        body_text_color_dark=light,
        body_text_color_subdued=dim,
        body_text_color_subdued_dark=mist,
        background_fill_primary=card,
        background_fill_primary_dark=slate,
        background_fill_secondary=paper,
        background_fill_secondary_dark=night,
        block_background_fill=card,
        block_background_fill_dark=slate,
        block_border_color=line,
        block_border_color_dark=edge,
        block_label_text_color=ink,
        block_label_text_color_dark=light,
        block_title_text_color=ink,
        block_title_text_color_dark=light,
        block_info_text_color=dim,
        block_info_text_color_dark=mist,
        block_shadow="none",
        block_shadow_dark="none",
        border_color_primary=line,
        border_color_primary_dark=edge,
        input_background_fill=card,
        input_background_fill_dark=slate,
        input_border_color=line,
        input_border_color_dark=edge,
        input_border_color_focus=ink,
        input_border_color_focus_dark=light,
        input_shadow="none",
        input_shadow_focus="none",
        button_primary_background_fill=ink,
        button_primary_background_fill_dark=light,
        button_primary_background_fill_hover="#343b48",
        button_primary_background_fill_hover_dark="#ffffff",
        button_primary_text_color=paper,
        button_primary_text_color_dark=night,
        button_secondary_background_fill=card,
        button_secondary_background_fill_dark=slate,
        button_secondary_background_fill_hover=paper,
        button_secondary_background_fill_hover_dark="#1f2631",
        button_secondary_border_color=line,
        button_secondary_border_color_dark=edge,
        slider_color=ink,
        slider_color_dark=light,
        checkbox_background_color_selected=ink,
        checkbox_background_color_selected_dark="#5d6675",
        checkbox_border_color_selected=ink,
        checkbox_border_color_selected_dark="#5d6675",
    )
    return theme
