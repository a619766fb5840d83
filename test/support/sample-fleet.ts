// A fleet like that of the design's pictures in a real project: real sessions, store, records and pins, made by our commands alone.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Spine, spine } from '../spine/spine.ts'
import { ownTerminal } from './own-terminal.ts'
import { fixture, launcher } from './programs.ts'
import { drawn, SAMPLE_AGENTS, type SampleAgent } from './sample-agents.ts'
import { modelOf, UNTIL_COUNTED } from './sample-models.ts'
import { until } from './wait.ts'

export interface SampleFleet extends Omit<Spine, 'start'> {
  /** What every program of it gets. */
  readonly more: Readonly<Record<string, string>>
  start(agent: SampleAgent): Promise<void>
}

/** Two thousand lines of a parcel company, so that the map has something to show. */
const FILES: readonly (readonly [folder: string, names: string])[] = [
  ['src/billing', 'invoice ledger tax dunning pdf money'],
  ['src/auth', 'refresh session routes family jwt mfa'],
  ['src/webhooks', 'deliver dedupe retry sign'],
  ['src/carriers/dhl', 'rates label auth'],
  ['src/carriers/ups', 'rates label'],
  ['src/carriers/dpd', 'rates label'],
  ['src/labels/render', 'pdf zpl'],
  ['src/labels', 'cn23 barcode font sizes'],
  ['src/rates', 'quote fuel zones'],
  ['src/rates/cache', 'lru'],
  ['src/tracking', 'poller events page batch eta'],
  ['src/queue', 'worker drain'],
  ['src/notify', 'digest email sms'],
  ['src/address', 'parse postcodes normalise'],
  ['web/checkout', 'Form Cart Map Pay Quote'],
  ['test/billing', 'invoice.test tax.test'],
  ['test/auth', 'refresh.test family.test'],
  ['test/e2e', 'cart.spec checkout.spec'],
  ['infra', 'main db iam'],
  ['docs', 'api webhooks setup'],
]

const POLICY = {
  policy_id: 'team',
  version: '2026-11-01',
  mode: 'control',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [
    {
      rule_id: 'no-force',
      kind: 'deny',
      enabled: true,
      severity: 'warn',
      match: { tool_name: { glob: ['push'] }, args: { key_equals: { force: true } } },
      effect: {
        action: 'REJECT_WITH_HINT',
        message: 'force pushes are off',
        hint: { hint_text: 'push without force', hint_kind: 'OTHER' },
      },
    },
    {
      rule_id: 'ask-deletes',
      kind: 'deny',
      enabled: true,
      severity: 'warn',
      match: { tool_name: { glob: ['delete_*'] } },
      effect: {
        action: 'ASK',
        message: 'deletes are asked about',
        ask: { question: 'May it delete?', wait_ms: 0 },
      },
    },
    {
      rule_id: 'calls-per-run',
      kind: 'budget',
      enabled: true,
      severity: 'warn',
      match: { tool_name: { glob: ['write_*'] } },
      effect: {
        message: 'three writes are enough',
        budget: { limit_calls: 3, on_exceed: 'REJECT_WITH_HINT', hint_text: 'say what is left and stop' },
      },
    },
  ],
}

/** So long an agent's model takes for one round: longer where somebody is to look at a timeline. */
export function parcelworks(pauseSeconds = 0): SampleFleet {
  const project = spine()
  const tools = (description: string): string =>
    JSON.stringify({
      pages: [
        [
          // All that is called: a tool that a server does not list is refused once another shim has seen the list.
          ...['list_pulls', 'read_file', 'write_file', 'delete_file', 'push'].map((name) => ({
            name,
            inputSchema: { type: 'object' },
          })),
          { name: 'create_pull_request', description, inputSchema: { type: 'object' } },
        ],
      ],
    })
  const listFile = join(project.home, 'tools.json')
  writeFileSync(listFile, tools('opens a pull request'))
  writeFileSync(join(project.home, 'tools-new.json'), tools('opens a pull request, and sends the diff to a reviewer'))
  for (const [folder, names] of FILES)
    names.split(' ').forEach((name, index) => {
      const suffix = folder === 'infra' ? 'tf' : folder === 'docs' ? 'md' : folder.startsWith('web') ? 'tsx' : 'ts'
      project.write(
        `${folder}/${name}.${suffix}`,
        `// ${name}\n`.repeat(name === 'invoice' ? 160 : 30 + ((index * 37 + folder.length * 11) % 120)),
      )
    })
  project.write('policy.json', JSON.stringify(POLICY))
  const [command, ...args] = fixture('listing-server')
  const tracker = { command, args, env: { LIST_FILE: listFile } }
  project.write('.mcp.json', JSON.stringify({ mcpServers: { tracker } }))
  project.git('add', '-A')
  project.git('commit', '--quiet', '--message=parcels')
  const more = {
    PATH: `${resolve('bin')}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    LIST_FILE: listFile,
    SAMPLE_SERVER: fixture('listing-server').join(' '),
  }
  return {
    ...project,
    more,
    async start(agent) {
      const flags = [
        'run',
        '--agent',
        agent.id,
        '--detach',
        '--cols',
        '96',
        '--rows',
        '24',
        '--policy',
        project.path('policy.json'),
      ]
      await project.json([...flags, '--', 'bash', scriptOf(project, agent, pauseSeconds)], { env: more })
    },
  }
}

/** Something moves, and nothing that stands on the screen changes: what it did last is its last line. */
const MOVES = '\\0337\\0338'

function scriptOf(project: Spine, agent: SampleAgent, pauseSeconds: number): string {
  const folder = join(project.home, 'agents')
  mkdirSync(folder, { recursive: true })
  const screen = join(folder, `${agent.id}.txt`)
  writeFileSync(screen, drawn(agent.screen))
  const script = join(folder, `${agent.id}.sh`)
  const lines = [
    ...(agent.task === undefined ? [] : [`heimdall task start ${agent.task[0]} --title '${agent.task[1]}' >/dev/null`]),
    ...(agent.claims === undefined
      ? []
      : [`heimdall claim ${agent.claims.map((scope) => `'${scope}'`).join(' ')} >/dev/null`]),
    ...(agent.says === undefined
      ? ['says() { :; }']
      : [
          ...modelOf(project, agent.id, SAMPLE_AGENTS.indexOf(agent)),
          `for ((i = 0; i < ${agent.says}; i++)); do says; for ((j = 0; j < ${pauseSeconds}; j++)); do printf '${MOVES}'; sleep 1; done; done`,
        ]),
    ...(agent.first ?? []),
    `cat '${screen}'`,
    ...(agent.does ?? []),
    // At work: it says so, and something moves on its screen.
    ...(agent.does === undefined && agent.isIdle !== true && agent.ends === undefined
      ? [
          "printf '\\033]7501;state=working\\033\\\\'",
          // Its model goes on too, for an hour at most.
          `{ for i in {1..3600}; do printf '${MOVES}'; sleep 1; (( i % 30 )) || says; done; } &`,
        ]
      : []),
    ...(agent.ends === undefined
      ? [
          // It goes on when somebody answers, and says what it was told.
          'while IFS= read -r -n1 first; do IFS= read -r -t 0.2 rest; printf "you said: %s%s\\r\\n" "$first" "$rest"; rest=; hm report --working; printf "\\033]7501;state=working\\033\\\\"; done',
        ]
      : [...(agent.says === undefined ? [] : [UNTIL_COUNTED]), `exit ${agent.ends}`]),
  ]
  writeFileSync(script, `${lines.join('\n')}\n`)
  chmodSync(script, 0o755)
  return script
}

/** The first agents of the sample, until each is what it is to be; the holder goes first. */
export async function startSampleFleet(fleet: SampleFleet, count: number): Promise<void> {
  const [holder, ...rest] = SAMPLE_AGENTS.slice(0, count)
  if (holder === undefined) return
  await fleet.start(holder)
  await until('the holder to hold', async () => (await fleet.claims()).length > 0)
  // A few at a time: what is measured elsewhere is not how many processes a machine can start at once.
  for (let from = 0; from < rest.length; from += 4)
    await Promise.all(rest.slice(from, from + 4).map((agent) => fleet.start(agent)))
}

export interface RunningHub {
  readonly url: string
  /** A link that lets one browser in. */
  link(): Promise<string>
  stop(): Promise<void>
}

/** `heimdall up` at a terminal of a person's own. */
export async function startHub(
  project: Pick<Spine, 'root' | 'env'>,
  more: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<RunningHub> {
  const start = { cwd: project.root, env: { ...project.env, ...more } }
  const terminal = ownTerminal(
    [...launcher('heimdall'), 'up', ...(flags.includes('--port') ? [] : ['--port', '0']), ...flags],
    start,
  )
  // Up to a character that is none of the key: what a terminal has shown may end in the middle of it.
  const address = /(http:\/\/127\.0\.0\.1:\d+)\/?#key=[\w-]+(?=[^\w-])/
  const [printed, url = ''] = await until(
    'the hub to say where it is',
    () => address.exec(terminal.written()) ?? undefined,
    { context: () => terminal.written() },
  )
  let unused: string | undefined = printed
  return {
    url,
    async link() {
      if (unused !== undefined) {
        const first = unused
        unused = undefined
        return first
      }
      const opener = ownTerminal([...launcher('heimdall'), 'open'], start)
      await opener.ended
      const link = /http:\/\/\S+#key=[\w-]+/.exec(opener.written())?.[0]
      if (link === undefined) throw new Error(`no link: ${opener.written()}`)
      return link
    },
    async stop() {
      terminal.type('\u0003')
      await terminal.ended
    },
  }
}
