// heimdall help: the overview, the page of a command, or a topic.
import { CONFIG_KEYS } from '../../config.ts'
import { ERRORS } from '../../errors.ts'
import { command, type Command } from '../command.ts'
import { allCommands } from '../nouns.ts'
import { contractExitRows, exitCodeRows, launcherExitRows } from '../render/exit-codes.ts'
import { renamed } from '../renames.ts'
import { foldText } from '../render/fold.ts'
import { columns, helpFor } from '../render/help.ts'
import { suggestCommand } from '../suggest-command.ts'
import { usageError } from '../usage-error.ts'

const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    [
      'Exit codes:',
      ...columns(exitCodeRows()),
      '',
      'The launchers of the seed contracts (hm, bb, heimdall-*) have codes of their own for these errors:',
      ...columns(contractExitRows()),
      '',
      'All other errors of these launchers:',
      ...columns(launcherExitRows()),
    ].join('\n'),
  environment: () =>
    [
      'Environment:',
      ...columns([
        ['HEIMDALL_PLANNING_DIR', 'planning folder instead of .planning, with all state of the repository inside it'],
        ['XDG_STATE_HOME, XDG_CONFIG_HOME', 'folders of runs, and of your configuration'],
        ['SUBLUMINAL_CLAUDE_CONFIG, …', 'configuration file of a host instead of all others, for import and restore'],
        ['NO_COLOR, CLICOLOR_FORCE', 'turn colour off, or on'],
        ...Object.entries(CONFIG_KEYS).flatMap(([key, entry]): [string, string][] =>
          'env' in entry ? [[entry.env, `${entry.help} (${key})`]] : [],
        ),
      ]),
    ].join('\n'),
  errors: () =>
    ['Error codes:', ...columns(Object.entries(ERRORS).map(([code, entry]) => [code, entry.means]))].join('\n'),
}

export const isTopic = (word: string): boolean => Object.hasOwn(TOPICS, word)

export const commands: readonly Command[] = [
  command({
    names: ['heimdall help'],
    summary: 'Show help for a command or a topic',
    args: [{ name: 'topic', help: 'a command, or exit-codes, environment, errors', optional: true, variadic: true }],
    flags: { all: { help: 'list every command, also those for scripts and agents' } },
    examples: {
      'heimdall help': 'lists the everyday commands',
      'heimdall help --all': 'lists every command',
      'heimdall help config list': 'shows one command',
      'heimdall help exit-codes': 'explains the exit codes',
    },
    output: 'topic, text',
    run: async ({ style }, { args, flags }) => {
      const topic = args.topic.join(' ')
      const text = page(await allCommands(), topic, flags.all === true)
      const isFolded = style.isTty && style.columns > 0
      return { data: { topic, text }, text: isFolded ? foldText(text, style.columns) : text }
    },
  }),
]

function page(all: readonly Command[], topic: string, isAll: boolean): string {
  if (topic === '') return helpFor(all, 'heimdall', isAll)
  const show = isTopic(topic) ? TOPICS[topic] : undefined
  if (show !== undefined) return show()
  const names = all.flatMap(({ spec }) => spec.names)
  const name = [topic, `heimdall ${topic}`].find((one) =>
    names.some((other) => other === one || other.startsWith(`${one} `)),
  )
  if (name !== undefined) return helpFor(all, name, isAll)
  const close = suggestCommand(all, ['heimdall'], topic.split(' '))
  const otherwise = close === undefined ? `topics: ${Object.keys(TOPICS).join(', ')}` : `did you mean ${close}?`
  throw usageError(`no command or topic ${JSON.stringify(topic)}`, renamed(topic.split(' '), 0, names) ?? otherwise)
}
