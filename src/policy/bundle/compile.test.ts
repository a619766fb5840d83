// Bundles to snapshots: what is taken, what is refused and where, and what hostile text cannot do.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { HeimdallError } from '../../errors.ts'
import { compileBundle } from './compile.ts'
import type { Problem } from './problems.ts'
import type { Snapshot } from '../types.ts'

const compile = (text: string): Promise<Snapshot> => compileBundle(text, { name: 'team.yaml' })

async function refusal(text: string): Promise<{ message: string; problems: readonly Problem[] }> {
  try {
    await compile(text)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'POLICY_INVALID') throw error
    return { message: error.message, problems: error.details?.['problems'] as readonly Problem[] }
  }
  throw new Error('was not refused')
}

const HEAD = 'policy_id: team\nversion: "1"\nmode: guardrails\n'
const rule = (text: string): string => `${HEAD}rules:\n  - rule_id: r\n${text.replace(/^/gm, '    ')}\n`

describe('seed 004 §2.6: the snapshot', () => {
  test('has defaults written out, is itself a bundle, and carries the hash of the rest', async () => {
    const snapshot = await compile(
      rule('kind: budget\nmatch: {tool_name: {glob: [a**b]}}\neffect: {budget: {limit_calls: 3, on_exceed: BLOCK}}'),
    )
    expect(snapshot).toMatchObject({
      policy_id: 'team',
      version: '1',
      mode: 'guardrails',
      defaults: { decision_on_error: 'BLOCK', fail_open_read_tools: false, decision_on_no_match: 'ALLOW' },
      selectors: {},
      rules: [
        {
          rule_id: 'r',
          enabled: true,
          severity: 'info',
          match: { tool_name: { glob: ['a*b'], regex: [] } },
          effect: {
            reason_code: 'BUDGET_EXCEEDED',
            budget: { scope: 'run', limit_calls: 3, limit_cost_units: null, cost_units_per_call: 1, hint_text: null },
          },
        },
      ],
    })
    const { policy_hash, ...content } = snapshot
    expect(policy_hash).toBe(canonicalHash(canonicalJson(content)))
    expect(await compile(JSON.stringify(snapshot))).toEqual(snapshot)
  })

  test('YAML and JSON of one bundle have one hash; any change of meaning has another', async () => {
    const yaml = await compile(`${HEAD}selectors: {env: [ci]}\nrules: []`)
    const json = await compile(
      '{"rules":[],"selectors":{"env":["ci"]},"mode":"guardrails","version":"1","policy_id":"team"}',
    )
    expect(json.policy_hash).toBe(yaml.policy_hash)
    expect((await compile(`${HEAD}selectors: {env: [dev]}\nrules: []`)).policy_hash).not.toBe(yaml.policy_hash)
  })

  test('a stated policy_hash is checked, never trusted', async () => {
    const { message } = await refusal(`${HEAD}policy_hash: "${'0'.repeat(64)}"\nrules: []`)
    expect(message).toContain('team.yaml:4:1: policy_hash: is "0000')
  })

  test('version and policy_version are one field', async () => {
    expect((await compile('policy_id: a\npolicy_version: "2"\nmode: observe\nrules: []')).version).toBe('2')
    expect((await refusal(`${HEAD}policy_version: "2"\nrules: []`)).message).toContain('differs from version')
  })
})

describe('seed 004 §0.2: what is not known is refused, with file, line and path', () => {
  test.each([
    [
      'unknown mode',
      'policy_id: a\nversion: "1"\nmode: enforce\nrules: []',
      '3:1: mode: "enforce" is not one of observe, guardrails, control',
    ],
    [
      'an action as a kind',
      rule('kind: ask\neffect: {}'),
      '6:5: rules[0].kind: "ask" is not one of allow, deny, budget, rate_limit, breaker, dedupe, tag; to ask a human, write kind: deny with effect: {action: ASK}',
    ],
    [
      'unknown kind',
      rule('kind: denny\neffect: {}'),
      '6:5: rules[0].kind: "denny" is not one of allow, deny, budget, rate_limit, breaker, dedupe, tag; did you mean deny?',
    ],
    [
      'unknown field of the bundle',
      `${HEAD}rule: []\nrules: []`,
      '4:1: rule: is not a field here; did you mean rules?',
    ],
    [
      'unknown field of a rule',
      rule('kind: deny\neffects: {}\neffect: {}'),
      '7:5: rules[0].effects: is not a field here; did you mean effect?',
    ],
    [
      'unknown field of match',
      rule('kind: deny\nmatch: {tool: {glob: [x]}}\neffect: {}'),
      '7:13: rules[0].match.tool: is not a field here',
    ],
    [
      'effect of another kind',
      rule('kind: deny\neffect: {budget: {limit_calls: 1, on_exceed: BLOCK}}'),
      '7:14: rules[0].effect.budget: is not a field here',
    ],
    [
      'deny that allows',
      rule('kind: deny\neffect: {action: ALLOW}'),
      '7:14: rules[0].effect.action: "ALLOW" is not one of BLOCK, REJECT_WITH_HINT',
    ],
    [
      'deny that throttles',
      rule('kind: deny\neffect: {action: THROTTLE}'),
      'rules[0].effect.action: "THROTTLE" is not one of',
    ],
    ['hint without text', rule('kind: deny\neffect: {action: REJECT_WITH_HINT}'), 'rules[0].effect.hint: is missing'],
    ['no effect', rule('kind: deny'), '5:5: rules[0].effect: is missing'],
    [
      'budget without a limit',
      rule('kind: budget\neffect: {budget: {on_exceed: BLOCK}}'),
      'needs limit_calls or limit_cost_units',
    ],
    [
      'throttle without backoff_ms',
      rule(
        'kind: rate_limit\neffect: {rate_limit: {capacity: 1, refill_tokens: 1, refill_period_ms: 1, on_limit: THROTTLE}}',
      ),
      'rate_limit.backoff_ms: is missing',
    ],
    [
      'breaker that counts nothing',
      rule('kind: breaker\neffect: {breaker: {on_trip: BLOCK}}'),
      'needs error_threshold or repeat_threshold',
    ],
    [
      'breaker with half a pair',
      rule('kind: breaker\neffect: {breaker: {error_threshold: 1, on_trip: BLOCK}}'),
      'error_threshold and window_ms go together',
    ],
    [
      'dedupe by another key',
      rule('kind: dedupe\neffect: {dedupe: {window_ms: 1, key: custom, on_duplicate: BLOCK}}'),
      '"custom" is not one of args_hash',
    ],
    [
      'negative limit',
      rule('kind: budget\neffect: {budget: {limit_calls: -1, on_exceed: BLOCK}}'),
      'must be a whole number from 0, not -1',
    ],
    [
      'number as text',
      rule('kind: tag\neffect: {tag: {add_risk_class: [1]}}'),
      'rules[0].effect.tag.add_risk_class[0]: must be a text, not a number (put it in quotes)',
    ],
    [
      'look-around',
      rule("kind: deny\nmatch: {tool_name: {regex: ['(?=a)']}}\neffect: {}"),
      'rules[0].match.tool_name.regex[0]: invalid or unsupported Perl syntax',
    ],
    ['back-reference', rule("kind: deny\nmatch: {tool_name: {regex: ['(a)\\1']}}\neffect: {}"), 'no back-references'],
    [
      'broken glob',
      rule("kind: deny\nmatch: {tool_name: {glob: ['[a']}}\neffect: {}"),
      'is not a glob: a [ without its ]',
    ],
    ['names nothing', rule('kind: deny\nmatch: {tool_name: {}}\neffect: {}'), 'names nothing'],
    ['hours', rule('kind: deny\nmatch: {time: {utc_hours: [25]}}\neffect: {}'), 'takes hours from 0 to 24'],
    [
      'same id twice',
      `${rule('kind: allow\neffect: {}')}  - {rule_id: r, kind: allow, effect: {}}`,
      '"r" is the id of rules[0] already',
    ],
    ['not YAML', 'a: [1', 'team.yaml:1:'],
    // Rules after it would not be there, and nobody would say so.
    [
      'a second document',
      `${HEAD}rules: []\n---\nrules: []\n`,
      'team.yaml:5:1: a second document begins after ---; a file holds one',
    ],
    ['an empty second document', `${HEAD}rules: []\n---\n`, 'a second document begins after ---'],
    [
      'a second document behind JSON',
      `{"policy_id":"p","version":"1","mode":"observe","rules":[]}\n---\n{"rules":[]}`,
      'a second document begins after ---',
    ],
    ['duplicate key in YAML', `${HEAD}mode: observe\nrules: []`, '4:1: Map keys must be unique'],
    ['duplicate key in JSON', '{"policy_id":"a",\n"policy_id":"b"}', '2:1: Map keys must be unique'],
    [
      'line of JSON',
      '{"policy_id":"a","version":"1",\n  "mode":"x","rules":[]}',
      'team.yaml:2:3: mode: "x" is not one of',
    ],
    ['custom tag', `${HEAD}rules: !!js/function x`, 'Unresolved tag'],
    ['a list', '[]', 'must be an object, not a list'],
    ['nothing', '', 'must be an object, not nothing'],
  ])('%s', async (_, text, expected) => {
    const { message } = await refusal(text)
    expect(message).toContain(expected)
  })

  test('one reading finds all problems', async () => {
    const { message, problems } = await refusal('mode: x\nrules:\n  - {kind: y}\n')
    expect(problems.map(({ path }) => path)).toEqual([
      'policy_id',
      'version',
      'mode',
      'rules[0].kind',
      'rules[0].rule_id',
      'rules[0].effect',
    ])
    expect(message).toMatch(/\(and 5 more\)$/)
  })
})

describe('hostile bundles end in one clear refusal', () => {
  const bomb = `a: &a [x, x]\n${'bcdefghijklmnopqrstuvwxyz'.replace(/./g, (c) => `${c}: &${c} [*${String.fromCharCode(c.charCodeAt(0) - 1)}, *${String.fromCharCode(c.charCodeAt(0) - 1)}]\n`)}`
  test.each([
    // Without the check on tokens this one ends the process: the reader of YAML runs out of stack inside the regex compiler.
    ['a row of dashes', '- '.repeat(100_000)],
    ['a row of question marks', '? '.repeat(50_000)],
    ['open brackets', '['.repeat(100_000)],
    ['open braces', '{a: '.repeat(50_000)],
    ['ever deeper blocks', Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    [
      'blocks just under the column that is refused at once',
      Array.from({ length: 127 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
    ],
    ['dashes just under it', `${'- '.repeat(63)}x`],
    ['deep JSON', `{"a":${'['.repeat(500)}${']'.repeat(500)}}`],
    ['an endless list in JSON', `{"a":[${'0,'.repeat(scaled(500_000, 2_000_000))}0]}`],
    ['an endless list in YAML', `a: [${'0,'.repeat(scaled(30_000, 100_000))}0]`],
    ['ten thousand rules that are none', `{"rules":[${'0,'.repeat(9_999)}0]}`],
    [
      'a class list without end',
      rule(`kind: tag\neffect: {tag: {add_risk_class: [${'1,'.repeat(scaled(15_000, 60_000))}1]}}`),
    ],
    ['an alias bomb', bomb],
    ['a merge key', 'a: &a {policy_id: x}\n<<: *a'],
    ['too long', `# ${'x'.repeat(300_000)}`],
    ['too long as JSON', `{"policy_id":"${'x'.repeat(5_000_000)}"}`],
    ['a regex too long', rule(`kind: deny\nmatch: {tool_name: {regex: ['${'a'.repeat(1_001)}']}}\neffect: {}`)],
    ['a regex that repeats too much', rule("kind: deny\nmatch: {tool_name: {regex: ['(a{1000}){1000}']}}\neffect: {}")],
    [
      'a regex nested too deep',
      rule(`kind: deny\nmatch: {tool_name: {regex: ['${'('.repeat(400)}${')'.repeat(400)}{999}']}}\neffect: {}`),
    ],
    [
      'regexes that are small alone',
      `{"policy_id":"a","version":"1","mode":"observe","rules":[{"rule_id":"r","kind":"deny","effect":{},"match":{"tool_name":{"regex":[${Array.from({ length: 30 }, (_, i) => `"(abc${i}){300}"`).join(',')}]}}}]}`,
    ],
    [
      '10,001 rules',
      `{"policy_id":"a","version":"1","mode":"observe","rules":[${Array.from({ length: 10_001 }, (_, i) => `{"rule_id":"r${i}","kind":"allow","effect":{}}`).join(',')}]}`,
    ],
  ])('%s', async (_, text) => {
    const { message } = await refusal(text)
    expect(message.length).toBeLessThan(400)
  })

  test('10,000 rules are taken', async () => {
    const rules = Array.from({ length: 10_000 }, (_, i) => ({
      rule_id: `r${i}`,
      kind: 'deny',
      match: { tool_name: { glob: [`t${i}`] } },
      effect: {},
    }))
    const snapshot = await compile(JSON.stringify({ policy_id: 'a', version: '1', mode: 'observe', rules }))
    expect(snapshot.rules).toHaveLength(10_000)
  })

  test('keys named __proto__ are keys', async () => {
    const snapshot = await compile(
      rule('kind: deny\nmatch: {args: {key_equals: {__proto__: x}, has_keys: [constructor]}}\neffect: {}'),
    )
    expect(Object.keys(snapshot.rules[0]?.match.args?.key_equals ?? {})).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })
})

test('fuzz: whatever the text, the compiler returns a snapshot or refuses with a place', async () => {
  const words = fc.constantFrom(
    'policy_id: ',
    'version: ',
    'mode: ',
    'observe',
    'rules:\n',
    '  - ',
    'rule_id: ',
    'kind: ',
    'deny',
    'budget',
    'effect: ',
    '{',
    '}',
    '[',
    ']',
    ',',
    ': ',
    '\n',
    '    ',
    '"',
    "'",
    '&a ',
    '*a',
    '!!',
    '|',
    '>',
    '# ',
    '? ',
    '- ',
    '1',
    'null',
    '~',
    '<<',
    '---\n',
    '...\n',
    '\t',
    '\u0000',
    '😀',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(words, { maxLength: 60 }).map((parts) => parts.join('')),
        fc.string(),
        fc.json(),
      ),
      async (text) => {
        try {
          const snapshot = await compile(text)
          expect(snapshot.policy_hash).toMatch(/^[0-9a-f]{64}$/)
        } catch (error) {
          expect(error).toBeInstanceOf(HeimdallError)
          expect((error as HeimdallError).code).toBe('POLICY_INVALID')
        }
      },
    ),
    { numRuns: scaled(100, 100_000) },
  )
})
