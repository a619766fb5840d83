// A screen that is cleared goes into the history first, as in tmux: who looks back finds what stood there.
import type { Terminal } from '@xterm/headless'
import { inside } from '../../../../cells/internals.ts'

/**
 * Not the emulator's own `scrollOnEraseInDisplay`: that one scrolls instead of erasing, so that rows with nothing but
 * a background stay, a scroll region keeps the rest of the screen, and the saved cursor moves.
 */
export function keepCleared(terminal: Terminal): void {
  terminal.parser.registerCsiHandler({ final: 'J' }, ([part]) => {
    const { active } = terminal.buffer
    const isAll = part === 2 || (part === 0 && active.cursorX === 0 && active.cursorY === 0)
    if (isAll && active.type === 'normal') pushScreen(terminal)
    // The emulator erases what is there now.
    return false
  })
}

function pushScreen(terminal: Terminal): void {
  const { service, attributes } = inside(terminal)
  const { buffer } = service
  const { scrollTop, scrollBottom, ybase } = buffer
  let used = terminal.rows
  while (used > 0 && (buffer.lines.get(ybase + used - 1)?.getTrimmedLength() ?? 0) === 0) used -= 1
  buffer.scrollTop = 0
  buffer.scrollBottom = terminal.rows - 1
  for (let row = 0; row < used; row += 1) service.scroll(attributes)
  buffer.scrollTop = scrollTop
  buffer.scrollBottom = scrollBottom
  buffer.savedY += buffer.ybase - ybase
}
