// The agents of the sample fleet: a parcel company's repository, who does what in it, and what each one shows.

export interface SampleAgent {
  readonly id: string
  readonly task?: readonly [id: string, title: string]
  readonly claims?: readonly string[]
  /** What stands on its screen; `{yellow}` and the like colour what follows up to the end of the line. */
  readonly screen: string
  /** How often its model has said what the recorded session has, before its screen is drawn. */
  readonly says?: number
  /** Shell lines that it runs before its screen is drawn. */
  readonly first?: readonly string[]
  /** And after it. */
  readonly does?: readonly string[]
  /** It is between tasks. */
  readonly isIdle?: boolean
  /** It ends with this code instead of waiting for input. */
  readonly ends?: number
}

const COLOURS: Readonly<Record<string, string>> = {
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
}

export function drawn(screen: string): string {
  const lines = screen.split('\n').map((line) => {
    const coloured = line.replaceAll(/\{(\w+)\}/g, (_, name: string) => `\u001b[${COLOURS[name] ?? '0'}m`)
    return coloured === line ? line : `${coloured}\u001b[0m`
  })
  return `${lines.join('\r\n')}\r\n`
}

/** The program status protocol: what is asked, by the program itself. */
export const asks = (kind: string, text: string): string =>
  `printf '\\033]7501;state=blocked:kind=${kind}:msg=${Buffer.from(text).toString('base64')}\\033\\\\'`

/** Tool calls through the shim, as a host would make them. */
export const calls = (server: string, messages: readonly (readonly [tool: string, args: object])[]): string => {
  const line = (message: object): string => `'${JSON.stringify({ jsonrpc: '2.0', ...message })}'`
  const hello = [
    {
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'sample', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 1, method: 'tools/list', params: {} },
  ].map(line)
  const asked = messages.map(([name, args], index) =>
    line({ id: index + 2, method: 'tools/call', params: { name, arguments: args } }),
  )
  const answers = `"$HOME/${server}.out"`
  const answered = (id: number): string => `until grep -q '"id":${id}[,}]' ${answers} 2>/dev/null; do sleep 0.1; done`
  // Calls come after the list was read and each after the answer to the one before; the host stays connected after its last one, as hosts do.
  const inTurn = asked.map((message, index) => `printf '%s\\n' ${message}; ${answered(index + 2)}`).join('; ')
  const host = `{ printf '%s\\n' ${hello.join(' ')}; ${answered(1)}; ${inTurn}; exec sleep 100000; }`
  return `rm -f ${answers}; ${host} | heimdall mcp shim --server-name=${server} -- $SAMPLE_SERVER > ${answers} 2>/dev/null & ${answered(messages.length + 1)}`
}

/** One at a time: others commit in the same checkout. */
const commits = (path: string, lines: string, message: string): string =>
  `sed -i '${lines}d' ${path}; until git commit --quiet --message '${message}' ${path} 2>/dev/null; do sleep 0.2; done`

const same = (tool: string, args: object, times: number): readonly (readonly [string, object])[] =>
  Array.from({ length: times }, () => [tool, args])

/** Six that wait for a person, who holds what the fourth wants, and one that goes in circles: the first eight. */
export const SAMPLE_AGENTS: readonly SampleAgent[] = [
  {
    id: 'ivory-lynx',
    task: ['BILL-77', 'Invoice PDF totals'],
    says: 6,
    claims: ['src/billing/**', 'test/billing/**'],
    screen:
      '● Totals now come from Money\n  Edit src/billing/invoice.ts\n  + 22  − 31\n● npm test -- test/billing\n{green}✓ invoice.test.ts (29) 1.9 s\n{green}✓ tax.test.ts (12) 1.3 s\n✓ 41 tests passed (3.2 s)',
  },
  {
    id: 'cobalt-harbor',
    task: ['HOOK-31', 'Idempotent webhook delivery'],
    says: 4,
    claims: ['src/webhooks/**', 'test/webhooks/**'],
    screen:
      '• Ran {bold}npm test -- test/webhooks\n{green}✓ test/webhooks/sign.test.ts (9 tests) 96 ms\n{green}✓ test/webhooks/retry.test.ts (14 tests) 377 ms\n{green}✓ test/webhooks/delivery.test.ts (18 tests) 412 ms\n{green}✓ test/webhooks/dedupe.test.ts (11 tests) 208 ms\n\n• Added a unique index on {bold}(endpoint_id, event_id)\n  so that a retried delivery is written once.\n\n• Next: migrate staging, then replay 2,000 recorded events.\n\n{yellow}Would you like to run the following command?\n  npm run db:migrate -- --env staging\n\n  1. Yes   2. Yes, and do not ask again   3. No, tell it what to do',
    does: ["hm report --needs-input 'permission to run: npm run db:migrate -- --env staging'"],
  },
  {
    id: 'amber-otter',
    task: ['AUTH-118', 'Rotate refresh tokens'],
    says: 5,
    claims: ['src/auth/**', 'test/auth/**'],
    first: [
      commits('src/auth/family.ts', '20,26', 'auth: a used token revokes its family'),
      // Refused, and done another way.
      calls('git', [
        ['push', { branch: 'ao/refresh-rotation', force: true }],
        ['push', { branch: 'ao/refresh-rotation', force: false }],
      ]),
    ],
    screen:
      '● The rotation is in. A used refresh token now revokes its whole family,\n  and a 30 s grace window covers two tabs that refresh at once.\n\n● {bold}Bash(npm test -- test/auth)\n  {green}✓ test/auth/refresh.test.ts (34 tests) 1.1 s\n  {green}63 passed (2.3 s)\n\n● Before I go on: three mobile builds still call {blue}POST /v1/refresh\n\n{yellow}Keep /v1/refresh for one release, or remove it now?\n{blue}❯ 1. Keep it, answer with a Sunset header\n  2. Remove it now; old builds must sign in again',
    does: [
      // Something to be looked at as its change.
      "sed -i '12,14d' src/auth/refresh.ts; printf 'export const GRACE_MS = 30_000\\n' >> src/auth/refresh.ts",
      asks('question', 'Keep /v1/refresh for one release, or remove it now?'),
    ],
  },
  {
    id: 'slate-heron',
    task: ['CARR-17', 'Carrier rates: DHL adapter'],
    says: 2,
    claims: ['src/carriers/dhl/**'],
    screen:
      'GET /rates  401 Unauthorized\n  key id dhl-sbx-…  expired 2 days ago\n\n● I cannot renew this key.\n{blue}  note sent BLOCKED\n  high: sandbox key expired\n  waiting for an answer',
    does: [
      "heimdall note send --to ivory-lynx --task CARR-17 --category BLOCKED --urgency high --subject 'DHL sandbox key expired; rate tests cannot run' --body 'The sandbox answers 401 since Monday. I need a new key, or leave to record the answers.' >/dev/null",
    ],
  },
  {
    id: 'teal-badger',
    task: ['BILL-80', 'Invoice rounding'],
    says: 2,
    screen: '● Edit src/billing/invoice.ts\n{red}× held by ivory-lynx\n  hint: wait, or ask for a handoff',
    does: Array.from({ length: 3 }, () => 'heimdall claim src/billing/invoice.ts >/dev/null 2>&1'),
  },
  {
    id: 'rust-marten',
    task: ['LABEL-40', 'Split the label renderer'],
    says: 3,
    claims: ['src/labels/render/**'],
    screen:
      '• render/zpl.ts   212 → 96 lines\n• render/pdf.ts   304 → 141 lines\n• apply_patch  ok\n\n{yellow}  budget of calls in this run used\n  waiting',
    does: [
      calls('labels', [
        ...same('write_file', { path: 'src/labels/render/zpl.ts' }, 3),
        ['write_file', { path: 'src/labels/render/pdf.ts' }],
      ]),
    ],
  },
  {
    id: 'pearl-gannet',
    task: ['REL-4', 'Release notes from PRs'],
    says: 1,
    screen:
      '● Release notes: 31 PRs since v4.18\n  grouped by area, 3 breaking\n\n● github.create_pull_request\n{red}  × tool changed since it was pinned\n  waiting for approval',
    does: [
      calls('github', [['list_pulls', {}]]),
      'cp "$HOME/tools-new.json" "$LIST_FILE"',
      calls('github', [['create_pull_request', { base: 'main' }]]),
    ],
  },
  {
    id: 'plum-weasel',
    task: ['QUEUE-9', 'Drain queue on shutdown'],
    says: 3,
    claims: ['src/queue/**'],
    screen: Array.from({ length: 7 }, () => '• read_file src/queue/drain.ts').join('\n'),
    does: [calls('fs', same('read_file', { path: 'src/queue/drain.ts' }, 9))],
  },
  {
    id: 'onyx-raven',
    task: ['HTTP-12', 'Retry headers RFC 9110'],
    says: 4,
    first: [commits('src/webhooks/retry.ts', '3,9', 'webhooks: Retry-After as in RFC 9110')],
    screen: '{green}✓ 118 tests passed\n● Pushed or/retry-after',
    ends: 0,
  },
  {
    id: 'fern-shrew',
    task: ['RATE-55', 'Currency table import'],
    says: 1,
    screen: '{red}Error: EUR row 217: scale 3\n  at parseRate (table.ts:41)',
    ends: 1,
  },
  {
    id: 'indigo-wren',
    task: ['TRACK-2', 'Tracking page p95'],
    says: 5,
    claims: ['src/tracking/**'],
    screen:
      'p95 before  1,840 ms  n=500\np95 now       612 ms  n=500\n\n● The poller still wakes per row\n  Read src/tracking/poller.ts\n  Read src/tracking/batch.ts',
  },
  {
    id: 'olive-stoat',
    task: ['E2E-3', 'Flaky checkout e2e'],
    says: 3,
    claims: ['test/e2e/**'],
    screen:
      'Running 14 tests, 4 workers\n{green}✓ cart.spec.ts:21 adds a parcel\n{red}× checkout.spec.ts:88 pays\n  Timeout 5000ms: button Pay\n  retry 1 of 3 failed\n  retry 2 of 3 …',
  },
  {
    id: 'umber-finch',
    task: ['ADDR-8', 'Address parser: fr, de'],
    says: 2,
    claims: ['src/address/**'],
    screen:
      '● German postcodes, c/o lines\n  Write test/address/de.json\n  + 14 cases\n● Umlauts fold before the match\n  Edit src/address/normalise.ts',
  },
  {
    id: 'copper-vole',
    task: ['INFRA-11', 'Terraform: split queues'],
    says: 2,
    claims: ['infra/main.tf'],
    screen:
      'module.queues["labels"]\n{green}  + aws_sqs_queue.this\nmodule.queues["tracking"]\n{yellow}  ~ visibility_timeout 30 → 90\n\nPlan: 6 to add, 2 to change',
  },
  {
    id: 'moss-plover',
    task: ['DOCS-30', 'Docs: webhook retries'],
    claims: ['docs/webhooks.md'],
    screen:
      '● docs/webhooks.md\n  ## When we retry\n  A delivery is tried 8 times over\n  26 hours. A 410 ends it.\n  ## What you may rely on',
  },
  {
    id: 'linen-crane',
    task: ['RATE-50', 'Rate cache eviction'],
    says: 4,
    claims: ['src/rates/cache/**'],
    screen:
      'rates/cache  n=20 per arm\n  main   41.2 ms ± 0.9\n  here   22.4 ms ± 0.6\n{green}  ratio  1.84×\n\n● Evict by age, then by size',
  },
  {
    id: 'cedar-lark',
    task: ['FUZZ-1', 'Fuzz the label parser'],
    screen:
      '#1204812 REDUCE cov: 4418\n#1206400 pulse  cov: 4418\n#1208911 NEW    cov: 4419\n#1212416 pulse  cov: 4419\nexec/s: 8391 rss: 402Mb',
  },
  {
    id: 'flint-osprey',
    task: ['CUST-23', 'Customs form CN23'],
    says: 1,
    claims: ['src/labels/cn23.ts'],
    screen:
      '• CN23 needs HS code per line\n• Edit src/labels/cn23.ts\n  + 64  − 8\n• box 12: sender reference\n• npm run typecheck',
  },
  {
    id: 'sage-kestrel',
    task: ['WEB-199', 'Checkout form: a11y'],
    says: 3,
    claims: ['web/checkout/Form.tsx'],
    screen:
      'axe  /checkout         0\naxe  /checkout/address 0\naxe  /checkout/pay     0\n{green}0 violations, 7 pages\n● Focus order on the map',
  },
  {
    id: 'brass-tern',
    task: ['NODE-24', 'Upgrade to Node 24'],
    says: 2,
    claims: ['package.json'],
    screen:
      'npm warn EBADENGINE none\nadded 1204 packages in 41 s\n● node --test with --watch off\n  Edit package.json\n● npm run build',
  },
  {
    id: 'birch-puffin',
    task: ['NOTE-6', 'Notification digests'],
    says: 1,
    claims: ['src/notify/**'],
    screen: '● Digest window per tenant\n  Edit src/notify/digest.ts\n  + 38  − 12\n\n● Running test/notify …',
  },
  { id: 'dusk-swift', isIdle: true, screen: '● Merged into main, 3 commits\n\n  Anything else?\n\n>' },
  { id: 'frost-ibex', isIdle: true, screen: '• Reviewed #412, 2 comments\n\n\n>' },
  { id: 'clay-robin', isIdle: true, screen: '● Done: lockfile is clean\n\n\n>' },
]
