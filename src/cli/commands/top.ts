// heimdall top: the fleet, live in the terminal, with keys that answer waits.
import { lookAtFleet } from '../../spine/fleet/look.ts'
import { command, type Command } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import { showsGlyphs } from '../render/glyphs.ts'
import { socketDir } from '../session-flags.ts'
import { FLEET_OUTPUT } from './status.ts'
import { boardLines, SORTS, TOP_KEYS } from './top-board.ts'

/** Width where no terminal reports one. */
const COLS_DEFAULT = 160

export const commands: readonly Command[] = [
  command({
    names: ['heimdall top'],
    summary: 'Show all agents live, and answer what they ask',
    about:
      'Agents that need you come first, with what they ask and the keys that answer. Without a terminal it prints one ' +
      `frame. Keys: ${TOP_KEYS.map(([keys, does]) => `${keys}: ${does}`).join('. ')}.`,
    flags: {
      once: { help: 'print one frame and exit' },
      'socket-dir': socketDir,
    },
    examples: {
      'heimdall top': 'shows the agents of this repository until you press q',
      'heimdall top --once': 'prints one frame',
    },
    output: FLEET_OUTPUT,
    run: async (context, { flags }) => {
      const options = await fleetOptions(context, flags, true)
      const { stdin, stdout, env, json, style } = context
      const look = { style, hasGlyphs: showsGlyphs(env) }
      if (flags.once !== true && !json && stdin.isTTY && stdout.isTTY && env['TERM'] !== 'dumb') {
        const [{ TopScreen }, { sessionAround }] = await Promise.all([
          import('./top-screen.ts'),
          import('../session-flags.ts'),
        ])
        const around = await sessionAround(context, options.socketDir)
        await new TopScreen({ context, options, look, around }).show()
        return { data: null, text: '', streamed: true }
      }
      const fleet = await lookAtFleet(options)
      const cols = style.isTty && style.columns > 0 ? style.columns : COLS_DEFAULT
      const state = { selected: undefined, filter: '', isFiltering: false, sort: SORTS[0], isHelping: false, said: '' }
      return { data: fleet, text: json ? '' : boardLines(fleet, { ...state, look, cols, rows: undefined }).join('\n') }
    },
  }),
]
