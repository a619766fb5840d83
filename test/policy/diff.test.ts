// heimdall policy diff from outside: what two bundles mean differently, how grave it is, and the exit code.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, deny, type Json, rule, startShim, tool } from '../support/shim-client.ts'

const folder = temporaryFolder

async function diff(before: object, after: object, ...words: string[]): Promise<{ code: number | null; data: Json }> {
  const dir = folder()
  writeFileSync(join(dir, 'a.json'), JSON.stringify(before))
  writeFileSync(join(dir, 'b.json'), JSON.stringify(after))
  const { code, stdout } = await runLauncher('heimdall', ['policy', 'diff', 'a.json', 'b.json', '--json', ...words], {
    cwd: dir,
    env: { HOME: dir },
  })
  return { code, data: (JSON.parse(stdout) as Json)['data'] as Json }
}

const allow = (id: string, match: object): object => rule(id, 'allow', match, {})
const budget = (limit_calls: number | undefined, more: object = {}): object =>
  rule('few', 'budget', {}, { budget: { limit_calls, on_exceed: 'BLOCK', ...more } })
const listOnly = (...rules: object[]): object => bundle(rules, { defaults: { decision_on_no_match: 'BLOCK' } })

test('POL-DIFF-001 a newly allowed destructive tool is critical', async () => {
  const before = listOnly(allow('reads', tool('read_file')))
  const after = listOnly(allow('reads', tool('read_file', 'delete_file')))
  const { data, code } = await diff(before, after)
  expect(code).toBe(0)
  expect(data['severity']).toBe('critical')
  expect(data['effects']).toMatchObject([
    { severity: 'critical', tool_name: 'delete_file', before: { action: 'BLOCK' }, after: { action: 'ALLOW' } },
  ])
  // By what its server says, whatever it is called.
  const list = join(folder(), 'tools.json')
  writeFileSync(list, JSON.stringify({ tools: [{ name: 'frobnicate', annotations: { destructiveHint: true } }] }))
  const said = await diff(before, listOnly(allow('all', {})), '--tools', `x=${list}`)
  expect((said.data['effects'] as Json[]).find((one) => one['tool_name'] === 'frobnicate')).toMatchObject({
    severity: 'critical',
    reason: expect.stringContaining('its server says that it destroys'),
  })
  expect((await diff(before, after, '--fail-on', 'critical')).code).toBe(1)
})

const no = deny('no', tool('rm'))
/** Before, after, and the gravest change with its words. */
const PAIRS: readonly (readonly [string, object, object, string, RegExp])[] = [
  ['a removed deny', bundle([no]), bundle([]), 'critical', /a deny rule is gone/],
  ['a disabled deny', bundle([no]), bundle([{ ...no, enabled: false }]), 'critical', /disabled: a deny rule is gone/],
  ['an added deny', bundle([]), bundle([no]), 'warn', /a new deny rule/],
  ['an allow above a deny', bundle([no]), bundle([allow('yes', {}), no]), 'critical', /rules below it/],
  [
    'an allow that changes nothing',
    bundle([no]),
    bundle([no, allow('yes', {})]),
    'info',
    /below which nothing refuses/,
  ],
  ['mode to observe', bundle([no]), bundle([no], { mode: 'observe' }), 'critical', /nothing is refused any more/],
  ['mode to guardrails', bundle([no], { mode: 'observe' }), bundle([no]), 'warn', /only noted is refused/],
  ['default to allow', listOnly(no), bundle([no], { defaults: {} }), 'critical', /what no rule names is allowed/],
  [
    'errors pass',
    bundle([no]),
    bundle([no], { defaults: { decision_on_error: 'ALLOW' } }),
    'critical',
    /when policy fails, calls pass/,
  ],
  [
    'fewer runs',
    bundle([no]),
    bundle([no], { selectors: { env: ['ci'] } }),
    'critical',
    /env no longer names all others/,
  ],
  [
    'more runs',
    bundle([no], { selectors: { env: ['ci'] } }),
    bundle([no], { selectors: { env: ['ci', 'dev'] } }),
    'warn',
    /env names dev as well/,
  ],
  [
    'a server that is believed',
    bundle([no]),
    bundle([no], { trust_annotations: ['git'] }),
    'critical',
    /git is believed/,
  ],
  ['a deny that names less', bundle([deny('no', {})]), bundle([no]), 'critical', /matches fewer calls/],
  ['a deny that names more', bundle([no]), bundle([deny('no', {})]), 'warn', /matches more calls/],
  [
    'a deny that asks',
    bundle([no]),
    bundle([deny('no', tool('rm'), { action: 'ASK' })]),
    'warn',
    /a person may let pass/,
  ],
  ['a higher limit', bundle([budget(3)]), bundle([budget(4)]), 'warn', /limit_calls goes from 3 to 4, which is looser/],
  [
    'a lower limit',
    bundle([budget(3)]),
    bundle([budget(2)]),
    'warn',
    /limit_calls goes from 3 to 2, which is stricter/,
  ],
  [
    'a limit that is gone',
    bundle([budget(3, { limit_cost_units: 9 })]),
    bundle([budget(undefined, { limit_cost_units: 9 })]),
    'critical',
    /this limit is gone/,
  ],
  [
    'a run that goes on',
    bundle([budget(3, { on_exceed: 'TERMINATE_RUN' })]),
    bundle([budget(3)]),
    'critical',
    /the run goes on/,
  ],
  [
    'an allow moved above a deny',
    bundle([no, allow('yes', {})]),
    bundle([allow('yes', {}), no]),
    'critical',
    /now stands above no/,
  ],
  [
    'an allow moved below a deny',
    bundle([allow('yes', {}), no]),
    bundle([no, allow('yes', {})]),
    'warn',
    /now stands below no/,
  ],
  ['words', bundle([no]), bundle([{ ...no, description: 'why' }]), 'info', /only its words differ/],
]

test.each(PAIRS)('%s', async (_name, before, after, severity, reason) => {
  const { data } = await diff(before, after)
  const [gravest] = data['changes'] as Json[]
  expect(gravest).toMatchObject({ severity, reason: expect.stringMatching(reason) })
})

test('the same bundle written otherwise means the same; --fail-on counts from its severity on', async () => {
  const spelled = bundle([{ ...no, severity: 'warn' }], {
    defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: false },
  })
  expect(await diff(bundle([no]), spelled, '--fail-on', 'info')).toMatchObject({
    code: 0,
    data: { same: true, severity: null, changes: [], effects: [] },
  })
  expect((await diff(bundle([]), bundle([no]), '--fail-on', 'critical')).code).toBe(0)
  expect((await diff(bundle([]), bundle([no]), '--fail-on', 'warn')).code).toBe(1)
})

test('recorded calls are tried, and as text the gravest comes first', async () => {
  const shim = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: 'tried' } })
  await shim.call('push', { branch: 'main', options: { force: true } })
  await shim.call('push', { password: 'correct horse' })
  await shim.end()
  const dir = folder()
  const forced = deny('no-force', { args: { at: { '*.force': { equals: true } } } })
  writeFileSync(join(dir, 'a.json'), JSON.stringify(bundle([forced, no])))
  writeFileSync(join(dir, 'b.json'), JSON.stringify(bundle([no])))
  const { stdout } = await runLauncher('sub', ['policy', 'diff', 'a.json', 'b.json', '--run', 'tried'], {
    cwd: dir,
    env: { HOME: shim.home },
  })
  expect(stdout).toMatch(/^critical removed no-force: a deny rule is gone/)
  expect(stdout).toContain('{"branch":"main","options":{"force":true}}')
  expect(stdout).toContain('1 recorded calls were not tried: the record does not show their arguments')
})
