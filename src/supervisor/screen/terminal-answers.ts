// Answers the program's questions from the emulator, in the screen's worker: each once, in the order they were asked.
import { type Params, paramsText } from '../../cells/params.ts'
import type { TerminalColors } from '../../wire/payloads.ts'
import type { Emulator } from './emulator.ts'
import { Palette } from '../../cells/palette.ts'
import type { TerminalModes } from './terminal-modes.ts'
import { type AskedQuery, QUERIES } from '../../cells/terminal-queries.ts'

declare const __HEIMDALL_VERSION__: string

export interface TerminalAnswering {
  /** Off while a viewer's own terminal is given the same questions, and while output is read a second time. */
  isOn: boolean
  /** Of the terminal that the program is shown in. */
  set colors(colors: TerminalColors)
}

export function answerQueries(
  emulator: Emulator,
  modes: TerminalModes,
  say: (answer: string) => void,
): TerminalAnswering {
  const palette = new Palette()
  const answering: TerminalAnswering = {
    isOn: false,
    set colors({ foreground, background }: TerminalColors) {
      palette.own(foreground, background)
    },
  }
  const asked: AskedQuery = { modes, palette, version: __HEIMDALL_VERSION__ }
  const { parser } = emulator
  const answered = (answer: string | undefined): boolean => {
    if (answer !== undefined && answering.isOn) say(answer)
    return answer !== undefined
  }
  for (const query of QUERIES) {
    const { answer } = query
    if (answer === undefined) continue
    const isAsked = new RegExp(`^(?:${query.params ?? '.*'})$`, 's')
    const take = (params: string): boolean => isAsked.test(params) && answered(answer(params, asked))
    const takeList = (params: Params): boolean => take(paramsText(params))
    if (query.is === 'csi') parser.registerCsiHandler(query.id, takeList)
    else if (query.is === 'dcs') parser.registerDcsHandler(query.id, take)
    else parser.registerOscHandler(query.id, (text) => answered(answer(text, asked)))
  }
  for (const code of [104, 110, 111, 112])
    parser.registerOscHandler(code, (text) => {
      palette.reset(code, text)
      return false
    })
  // What the emulator answers by itself: where the cursor is, modes, attributes of the device.
  emulator.onData(answered)
  return answering
}
