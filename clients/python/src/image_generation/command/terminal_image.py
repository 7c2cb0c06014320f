"""Shows a picture in terminals that can: by kitty's graphics protocol or by iTerm2's inline images.

Others show none.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping

# Kitty's protocol takes so many characters at a time.
_chunk_characters = 4096
_png = b'\x89PNG\r\n\x1a\n'


def shown(content: bytes, environment: Mapping[str, str] = os.environ) -> str | None:
    """What to print for a picture to appear; None where the terminal cannot show it."""
    # A multiplexer keeps the codes for itself.
    if environment.get('TMUX') or environment.get('STY'):
        return None
    program = environment.get('TERM_PROGRAM', '')
    if environment.get('KITTY_WINDOW_ID') or environment.get('TERM') == 'xterm-kitty' or program == 'ghostty':
        return _by_kitty(content) if content.startswith(_png) else None
    if program in ('iTerm.app', 'WezTerm'):
        return _by_iterm2(content)
    return None


def _by_kitty(content: bytes) -> str:
    """See https://sw.kovidgoyal.net/kitty/graphics-protocol/: `a=T` shows at once, `f=100` is PNG, `m=1` has
    more to come.
    """
    text = base64.b64encode(content).decode()
    chunks = [text[start : start + _chunk_characters] for start in range(0, len(text), _chunk_characters)]
    parts: list[str] = []
    for number, chunk in enumerate(chunks):
        control = 'a=T,f=100,c=40,' if number == 0 else ''
        parts.append(f'\x1b_G{control}m={int(number < len(chunks) - 1)};{chunk}\x1b\\')
    return ''.join(parts)


def _by_iterm2(content: bytes) -> str:
    """See https://iterm2.com/documentation-images.html."""
    text = base64.b64encode(content).decode()
    return f'\x1b]1337;File=inline=1;size={len(content)};width=40:{text}\x07'
