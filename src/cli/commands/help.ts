// heimdall help: a command's page, the overview, or a topic.
import { CONFIG_KEYS } from '../../config.ts'
import { ERRORS, HeimdallError } from '../../errors.ts'
import type { Run } from '../command.ts'
import { contractExitRows, exitCodeRows } from '../render/exit-codes.ts'
import { foldText } from '../render/fold.ts'
import { columns, commandHelp, overviewHelp } from '../render/help.ts'
import { suggestCommands } from '../suggest-command.ts'
import type { help } from '../table/core.ts'
import { ABOUT, COMMANDS } from '../table.ts'

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    [
      'Exit codes:',
      ...columns(exitCodeRows()),
      '',
      'By the names of a contract, such as hm and bb, its own codes count. Of these errors they are others:',
      ...columns(contractExitRows()),
    ].join('\n'),
  environment: () =>
    [
      'Environment:',
      ...columns([
        ['HEIMDALL_PLANNING_DIR', 'planning root in place of .planning; all state then sits inside it'],
        ['XDG_STATE_HOME, XDG_CONFIG_HOME', 'where runs and the ledger, and the user configuration, live'],
        [
          'SUBLUMINAL_CLAUDE_CONFIG, …',
          'one configuration file of a host in place of all others, for import and restore',
        ],
        ['NO_COLOR, CLICOLOR_FORCE', 'colour off, colour on'],
        ...Object.entries(CONFIG_KEYS).flatMap(([key, entry]): [string, string][] =>
          'env' in entry ? [[entry.env, `${entry.help} (${key})`]] : [],
        ),
      ]),
    ].join('\n'),
  errors: () =>
    ['Error codes:', ...columns(Object.entries(ERRORS).map(([code, entry]) => [code, entry.means]))].join('\n'),
}

export const isTopic = (word: string): boolean => Object.hasOwn(TOPICS, word)

export const run: Run<typeof help> = ({ style }, { args }) => {
  const topic = args.topic.join(' ')
  const text = page(topic)
  return Promise.resolve({
    data: { topic, text },
    text: style.isTty && style.columns > 0 ? foldText(text, style.columns) : text,
  })
}

function page(topic: string): string {
  if (topic === '')
    return `${overviewHelp(COMMANDS, 'heimdall', ABOUT)}\nheimdall help ${Object.keys(TOPICS).join(' | ')}`
  const show = isTopic(topic) ? TOPICS[topic] : undefined
  if (show !== undefined) return show()
  const names = COMMANDS.flatMap(({ spec }) => spec.names)
  for (const name of [topic, `heimdall ${topic}`]) {
    const command = COMMANDS.find(({ spec }) => (spec.names as readonly string[]).includes(name))
    if (command !== undefined) return commandHelp(command.spec, name)
    if (names.some((other) => other.startsWith(`${name} `))) return overviewHelp(COMMANDS, name, ABOUT)
  }
  const [close] = suggestCommands(COMMANDS, ['heimdall'], topic.split(' '))
  throw new HeimdallError('USAGE', `no command or topic ${JSON.stringify(topic)}`, {
    hint: close === undefined ? `topics: ${Object.keys(TOPICS).join(', ')}` : `did you mean ${close}?`,
  })
}
