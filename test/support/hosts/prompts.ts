// Prompts of real hosts for a person, and what a session says of each. `npm run test:hosts` has them asked and keeps the
// terminal streams, `npm test` plays those: both are held against this table.
import type { HostName } from './script.ts'

export interface Prompts {
  /** Of `test/fixtures/hosts/`. */
  readonly cast: string
  readonly host: HostName
  readonly title: string
  /** What a person types first, to which the scripted model answers. */
  readonly words: string
  /** The key that says yes. */
  readonly yes: string
  /** The terminal does not answer `OSC 7501;?`. */
  readonly isDeaf?: boolean
  readonly source: 'osc' | 'screen'
  /** Of each prompt, in order. */
  readonly evidence: readonly string[]
  /** Made by the commands that are asked for. */
  readonly files: readonly string[]
}

const TWO_FILES = {
  words: 'GO create files',
  title: 'two permission prompts in a row',
  files: ['first.txt', 'second.txt'],
} as const

export const PERMISSIONS: readonly Prompts[] = [
  {
    ...TWO_FILES,
    cast: 'claude-code-permissions',
    host: 'claude',
    title: `${TWO_FILES.title}, OSC 7501 not answered`,
    yes: '\r',
    isDeaf: true,
    source: 'screen',
    evidence: ['Do you want to proceed?', 'Do you want to proceed?'],
  },
  {
    ...TWO_FILES,
    cast: 'claude-code-permissions-7501',
    host: 'claude',
    title: `${TWO_FILES.title}, OSC 7501 answered`,
    yes: '\r',
    source: 'osc',
    evidence: [
      'OSC 7501: permission: approve Bash: touch first.txt',
      'OSC 7501: permission: approve Bash: touch second.txt',
    ],
  },
  {
    ...TWO_FILES,
    cast: 'codex-permissions',
    host: 'codex',
    yes: 'y',
    source: 'osc',
    evidence: ['OSC 7501: permission', 'OSC 7501: permission'],
  },
  {
    ...TWO_FILES,
    cast: 'gemini-permissions',
    host: 'gemini',
    yes: '\r',
    source: 'osc',
    evidence: ['title: Action Required (project)', 'title: Action Required (project)'],
  },
]

export const QUESTION: Prompts = {
  cast: 'claude-code-question-7501',
  host: 'claude',
  title: 'a question of the model, OSC 7501 answered',
  words: 'ASK me the colour',
  yes: '\r',
  source: 'osc',
  evidence: ['OSC 7501: question: answer: Which colour shall it be? (Red · Blue)'],
  files: [],
}
