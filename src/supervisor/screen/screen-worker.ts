// The screen's worker thread: a headless terminal that is written to and asked, by the session and by the child.
import { parentPort, workerData } from 'node:worker_threads'
import { resizeTerminal } from '../../cells/resize.ts'
import { WholeCharacters } from '../../cells/whole-characters.ts'
import { answerQueries } from './terminal-answers.ts'
import { drawScreen } from './draw-screen.ts'
import { createEmulator } from './emulator.ts'
import { findQuestion } from './terminal-questions.ts'
import type { FromScreen, ScreenLook, ScreenStart, ToScreen } from './screen-messages.ts'
import { followModes } from './terminal-modes.ts'
import { followWholeness } from '../streams/wholeness.ts'

const { size, isAnswering, colors } = workerData as ScreenStart
const emulator = createEmulator(size.cols, size.rows)
const whole = new WholeCharacters()
const modes = followModes(emulator)
const wholeness = followWholeness(emulator)
const tell = (message: FromScreen): void => parentPort?.postMessage(message)
const answering = answerQueries(emulator, modes, (text) => tell({ is: 'answer', text }))
answering.isOn = isAnswering
if (colors !== undefined) answering.colors = colors
let title = ''
emulator.onTitleChange((text) => {
  title = text
})

function look(request: number, isDrawn: boolean): ScreenLook {
  const { active } = emulator.buffer
  const lines = Array.from(
    { length: emulator.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  )
  return {
    is: 'look',
    request,
    size: { cols: emulator.cols, rows: emulator.rows },
    modes: {
      alt_screen: active.type === 'alternate',
      bracketed_paste: emulator.modes.bracketedPasteMode,
      application_cursor: emulator.modes.applicationCursorKeysMode,
      application_keypad: emulator.modes.applicationKeypadMode,
      focus_events: emulator.modes.sendFocusMode,
      mouse: emulator.modes.mouseTrackingMode !== 'none',
      cursor_hidden: modes.isCursorHidden,
      keyboard_flags: modes.keyboardFlags,
    },
    isWhole: wholeness.isWhole,
    // What fills the whole screen is a program to be used, such as an editor, and its lines are the user's.
    question: findQuestion(lines, active.cursorY, active.type === 'normal' ? active.cursorX : undefined),
    lastLine: lines.findLast((line) => line.trim() !== '')?.trim() ?? '',
    drawing: isDrawn ? Buffer.from(drawScreen(emulator, modes, title)) : new Uint8Array(),
  }
}

parentPort?.on('message', (message: ToScreen) => {
  switch (message.is) {
    case 'output':
      emulator.write(whole.push(message.bytes))
      return
    case 'size':
      // In turn with the output around it: the emulator parses later than it is written to.
      emulator.write('', () => resizeTerminal(emulator, message.size))
      return
    case 'skipped':
      emulator.write('', () => wholeness.lose())
      return
    case 'answering':
      emulator.write('', () => {
        answering.isOn = message.isOn
      })
      return
    case 'colors':
      answering.colors = message.colors
      return
    case 'look':
      emulator.write('', () => tell(look(message.request, message.isDrawn)))
  }
})
