// heimdall policy … from outside: files in, decisions and exit codes out.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'heimdall-policy-'))

function file(name: string, text: string | Buffer): string {
  writeFileSync(join(dir, name), text)
  return name
}

async function heimdall(
  words: readonly string[],
  bin = 'heimdall',
  stdin = '',
): Promise<{ code: number | null; out: string; err: string }> {
  const { code, stdout, stderr } = await runLauncher(bin, words, { cwd: dir, stdin })
  return { code, out: stdout, err: stderr }
}

const team = file(
  'team.yaml',
  `policy_id: team
version: "1.0"
mode: guardrails
defaults: {decision_on_error: BLOCK}
selectors: {}
rules:
  - rule_id: no-force
    kind: deny
    enabled: true
    severity: warn
    match: {tool_name: {glob: [push]}, args: {key_equals: {force: true}}}
    effect: {action: REJECT_WITH_HINT, reason_code: NO_FORCE, message: force is off, hint: {hint_text: push without force, suggested_args: {force: false}}}
  - {rule_id: nights, kind: deny, match: {time: {utc_hours: ["22-6"]}}, effect: {}}
  - {rule_id: rest, kind: allow, effect: {}}
  - {rule_id: late, kind: deny, match: {tool_name: {glob: [rm]}}, effect: {}}
`,
)

describe('policy lint', () => {
  test('a valid bundle with a dead rule: exit 0, and 1 with --strict', async () => {
    const { code, out } = await heimdall(['policy', 'lint', team])
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining('team.yaml: dead: late is never reached: rest above') as string,
    })
    expect((await heimdall(['policy', 'lint', '--strict', team])).code).toBe(1)
    expect((await heimdall(['policy', 'lint', team], 'sub')).out).toBe(out)
  })

  test('every problem with file, line and path: exit 1', async () => {
    const broken = file(
      'broken.yaml',
      'policy_id: x\nversion: "1"\nmode: enforce\nrules:\n  - {rule_id: a, kind: forbid, effect: {}}\n',
    )
    expect(await heimdall(['policy', 'lint', broken])).toMatchObject({
      code: 1,
      out: [
        'broken.yaml:3:1: mode: "enforce" is not one of observe, guardrails, control',
        'broken.yaml:5:18: rules[0].kind: "forbid" is not one of allow, deny, budget, rate_limit, breaker, dedupe, tag',
        '',
      ].join('\n'),
    })
    expect(JSON.parse((await heimdall(['policy', 'lint', '--json', broken])).out)).toMatchObject({
      ok: false,
      data: {
        valid: false,
        problems: [
          { path: 'mode', line: 3 },
          { path: 'rules[0].kind', line: 5, column: 18 },
        ],
      },
    })
  })

  test('a missing file, a folder, bytes that are no text, and a bundle that would kill a careless reader', async () => {
    expect(await heimdall(['policy', 'lint', 'none.yaml'])).toMatchObject({
      code: 8,
      err: 'error: none.yaml cannot be read (ENOENT)\nhint: heimdall policy init --from careful writes a first one\n',
    })
    expect((await heimdall(['policy', 'lint', '.'])).code).toBe(8)
    expect((await heimdall(['policy', 'compile', file('binary.yaml', Buffer.from([0xff, 0xfe]))])).err).toContain(
      'is not UTF-8',
    )
    expect(await heimdall(['policy', 'lint', file('dashes.yaml', '- '.repeat(100_000))])).toMatchObject({
      code: 1,
      out: 'dashes.yaml:1:129: nested deeper than 32 levels\n',
    })
  })
})

describe('policy compile', () => {
  test('prints a snapshot that compiles to itself; --hash prints what events name', async () => {
    const { out } = await heimdall(['policy', 'compile', team])
    const hash = (await heimdall(['policy', 'compile', '--hash', team])).out
    expect((JSON.parse(out) as { policy_hash: string }).policy_hash).toBe(hash.trim())
    expect((await heimdall(['policy', 'compile', '-'], 'heimdall', out)).out).toBe(out)
    const forged = out.replace('no-force', 'no-farce')
    expect(await heimdall(['policy', 'compile', '-'], 'heimdall', forged)).toMatchObject({
      code: 2,
      err: expect.stringContaining('but the content hashes to') as string,
    })
  })
})

describe('policy explain', () => {
  test('which rule decides and why, rule by rule; flags may follow the file', async () => {
    const call = ['policy', 'explain', team, '--server', 'git', '--tool', 'push', '--at', '2026-01-01T12:00:00Z']
    expect((await heimdall([...call, '--args', '{"force":true,"branch":"main"}'])).out.split('\n')).toEqual([
      'REJECT_WITH_HINT by no-force: NO_FORCE, force is off',
      'hint: push without force',
      'suggested arguments: {"force":false,"branch":"main"}',
      'policy team 1.0, mode guardrails',
      'HIT\tRULE\tKIND\tWHY',
      '*\tno-force\tdeny\tmatches, and decides',
      '-\tnights\tdeny\tits arguments, classes or hours do not match',
      '*\trest\tallow\tmatches; something else decides',
      '-\tlate\tdeny\tnames other tools',
      '',
    ])
    expect((await heimdall([...call, '--exit-code'])).code).toBe(0)
    expect((await heimdall([...call, '--exit-code', '--args', '{"force":true}'])).code).toBe(7)
    expect((await heimdall([...call, '--exit-code', '--args', 'uninspectable'])).out).toContain('ARGS_UNINSPECTABLE')
    expect(JSON.parse((await heimdall([...call, '--json'])).out)).toMatchObject({
      data: { decision: { action: 'ALLOW', rule_id: 'rest' }, mode: 'guardrails' },
    })
    expect(
      (await heimdall(['policy', 'explain', team, '--server', 'git', '--tool', 'x', '--at', '2026-01-01T23:00:00Z']))
        .out,
    ).toMatch(/^BLOCK by nights/)
    expect((await heimdall([...call, '--args', '[1]'])).code).toBe(2)
  })
})

test('policy explain shows what is parsed of a shell command line', async () => {
  const call = ['policy', 'explain', team, '--server', 'sh', '--tool', 'run', '--args']
  const command = 'cd x && sudo git push -f | tee "$OUT" src/log; make'
  const { out } = await heimdall([...call, JSON.stringify({ command })])
  for (const line of [
    'runs "git push -f" (network)',
    'runs "tee $OUT src/log" (writes "?", writes "x/src/log")',
    'runs "make" (unknown)',
  ])
    expect(out).toContain(line)
  expect((await heimdall([...call, JSON.stringify({ command: "rm 'a" })])).out).toContain('unparsed: more may run')
})

describe('policy explain of tools that hosts have themselves', () => {
  const explain = async (...words: string[]) => {
    const { code, out } = await heimdall(['policy', 'explain', team, ...words, '--json'])
    return { code, data: (JSON.parse(out) as { data: Record<string, unknown> | null }).data }
  }

  test.each([
    ['Bash', []],
    ['Write', ['--server', 'claude']],
    ['Read', ['--server', 'claude-code']],
    ['WebFetch', []],
    ['apply_patch', ['--server', 'codex']],
    ['run_shell_command', ['--server', 'gemini']],
  ] as const)('%s %j: not governed, and no rule is said to decide it', async (tool, server) => {
    const { code, data } = await explain('--tool', tool, ...server, '--exit-code', '--args', '{"command":"rm -rf /"}')
    expect(code).toBe(0)
    expect(data).toMatchObject({ decision: null, rules: [], host_tool: { tool, governed: false } })
    const { out } = await heimdall(['policy', 'explain', team, '--tool', tool, ...server])
    expect(out).toMatch(new RegExp(`^not governed: ${tool} is a tool of .* itself. Policy decides MCP calls`))
  })

  test('an MCP server may have a tool of that name: both are said; names that servers use too are the server’s', async () => {
    const at = ['--at', '2026-01-01T12:00:00Z']
    const both = await explain('--server', 'files', '--tool', 'Write', ...at)
    expect(both.data).toMatchObject({ decision: { action: 'ALLOW' }, host_tool: { hosts: ['claude', 'cursor'] } })
    const { out } = await heimdall(['policy', 'explain', team, '--server', 'files', '--tool', 'Write', ...at])
    expect(out).toMatch(/^not governed: Write is .*\nas a tool of the MCP server "files":\nALLOW by rest/)
    const file = await explain('--server', 'files', '--tool', 'write_file', ...at)
    expect(file.data).toMatchObject({ decision: { action: 'ALLOW' }, host_tool: null })
    expect((await heimdall(['policy', 'explain', team, '--tool', 'push'])).err).toContain('--server is required')
  })
})

describe('policy explain has words for all that a rule can look at', () => {
  const all = file(
    'all.yaml',
    JSON.stringify({
      policy_id: 'all',
      version: '1',
      mode: 'guardrails',
      trust_annotations: ['fs'],
      rules: [
        { rule_id: 'reads', kind: 'allow', match: { annotations: { read_only: true } }, effect: {} },
        {
          rule_id: 'no-secrets',
          kind: 'deny',
          match: { method: ['resources/*'], args: { at: { uri: { glob: ['file:///etc/*'] } } } },
          effect: {},
        },
        {
          rule_id: 'few',
          kind: 'budget',
          match: { tool_name: { glob: ['write'] } },
          effect: { budget: { limit_calls: 2, on_exceed: 'BLOCK' } },
        },
        {
          rule_id: 'flaky',
          kind: 'breaker',
          match: { tool_name: { glob: ['fetch'] } },
          effect: { breaker: { error_threshold: 3, window_ms: 60_000, on_trip: 'BLOCK' } },
        },
        { rule_id: 'ask-writes', kind: 'deny', match: { tool_name: { glob: ['write'] } }, effect: { action: 'ASK' } },
        {
          rule_id: 'ask-mail',
          kind: 'deny',
          match: { tool_name: { glob: ['write', 'mail'] }, args: { has_keys: ['to'] } },
          effect: { action: 'ASK' },
        },
      ],
    }),
  )
  const explain = async (...words: string[]) => {
    const { code, out } = await heimdall(['policy', 'explain', all, '--server', 'fs', '--json', ...words])
    return {
      code,
      ...(JSON.parse(out) as { data: { decision: Record<string, unknown>; rules: { note: string }[] } }).data,
    }
  }

  test('another request than a tool call, by its params', async () => {
    const of = (uri: string) => explain('--method', 'resources/read', '--args', JSON.stringify({ uri }))
    expect((await of('file:///etc/passwd')).decision).toMatchObject({ action: 'BLOCK', rule_id: 'no-secrets' })
    expect((await of('file:///srv/a')).decision).toMatchObject({ action: 'ALLOW', rule_id: null })
    expect((await of('file:///srv/a')).rules.map(({ note }) => note)).toContain('names other requests')
  })

  test('what a server says of its tool, and whether it is believed', async () => {
    const said = ['--tool', 'peek', '--annotations', '{"read_only":true}']
    expect((await explain(...said)).decision).toMatchObject({ action: 'ALLOW', rule_id: 'reads' })
    expect((await explain('--tool', 'peek')).rules[0]?.note).toContain('nothing is known')
    expect((await explain('--tool', 'peek', '--annotations', '{"read_only":false}')).rules[0]?.note).toContain(
      'says otherwise',
    )
    expect((await heimdall(['policy', 'explain', all, '--server', 'other', ...said])).out).toContain(
      'trust_annotations does not',
    )
  })

  test('what a person has said, of all rules that ask or of one', async () => {
    const write = ['--tool', 'write']
    expect((await explain(...write)).decision).toMatchObject({
      reason_code: 'APPROVAL_REQUIRED',
      rule_id: 'ask-writes',
    })
    expect((await explain(...write, '--approved', 'allow')).decision).toMatchObject({ reason_code: 'APPROVED' })
    expect((await explain(...write, '--approved', 'ask-writes=deny')).decision).toMatchObject({
      reason_code: 'APPROVAL_DENIED',
    })
    expect((await explain(...write, '--approved', 'ask-mail=allow')).decision).toMatchObject({
      reason_code: 'APPROVAL_REQUIRED',
    })
  })

  test('what the run has seen before', async () => {
    expect((await explain('--tool', 'write', '--approved', 'allow', '--nth', '2')).decision).toMatchObject({
      action: 'ALLOW',
    })
    expect((await explain('--tool', 'write', '--approved', 'allow', '--nth', '3')).decision).toMatchObject({
      rule_id: 'few',
    })
    expect((await explain('--tool', 'fetch', '--nth', '4')).decision).toMatchObject({ action: 'ALLOW' })
    expect((await explain('--tool', 'fetch', '--nth', '4', '--after-errors')).decision).toMatchObject({
      rule_id: 'flaky',
    })
    expect((await explain('--tool', 'mail', '--args', 'ambiguous')).decision).toMatchObject({
      reason_code: 'ARGS_AMBIGUOUS',
    })
  })

  test.each([
    [[]],
    [['--tool', 'a', '--method', 'resources/read']],
    [['--tool', 'a', '--annotations', '{"readonly":true}']],
    [['--tool', 'a', '--annotations', '{"read_only":"yes"}']],
    [['--tool', 'a', '--approved', 'perhaps']],
    [['--tool', 'a', '--approved', 'nobody=allow']],
    [['--tool', 'a', '--nth', '0']],
  ])('wrong usage: %j', async (words) => {
    expect((await heimdall(['policy', 'explain', all, '--server', 'fs', ...words])).code).toBe(2)
  })
})

describe('policy test', () => {
  test('runs the cases against the bundle that the file names', async () => {
    const good = file(
      'good.yaml',
      'policy: team.yaml\ncases:\n  - {name: no force, server: git, tool: push, args: {force: true}, expect: {action: REJECT_WITH_HINT, rule_id: no-force}}\n',
    )
    expect(await heimdall(['policy', 'test', good])).toMatchObject({
      code: 0,
      out: 'ok no force\n1 of 1 cases passed\n',
    })
    const bad = file('bad.yaml', 'cases: [{name: x, server: git, tool: push, expect: BLOCK}]')
    expect((await heimdall(['policy', 'test', bad])).code).toBe(2)
    expect(await heimdall(['policy', 'test', bad, '--policy', team])).toMatchObject({
      code: 1,
      out: expect.stringContaining('FAILED x\n    call 1: action is "ALLOW", not "BLOCK"') as string,
    })
  })
})
