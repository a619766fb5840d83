// A first policy for servers whose tools are known, with the reason for each tool beside it, and cases that hold it to that.
import { POLICY_NAME_CHARS_MAX } from '../limits.ts'
import { classifyTool, type ToolKind } from './tool-kind.ts'
import type { Annotations } from './types.ts'

export interface StarterServer {
  readonly name: string
  /** Null where it did not answer; `why` says so. */
  readonly tools: readonly { readonly name: string; readonly annotations: Annotations }[] | null
  readonly why: string | null
}

export interface Starter {
  readonly policy: string
  readonly cases: string
  readonly counts: Readonly<Record<ToolKind, number>>
  /** Names that no policy can hold. */
  readonly leftOut: readonly string[]
}

interface Group {
  readonly server: string
  readonly kind: ToolKind
  readonly ruleId: string
  readonly tools: readonly { readonly name: string; readonly why: string }[]
}

/** Writes that a run may make before somebody should look. */
const WRITES_OF_A_RUN = 200
const WORD: Readonly<Record<ToolKind, string>> = {
  reads: 'reads',
  writes: 'writes',
  destroys: 'ask-before',
  unknown: 'ask-what-is',
}
const SAID: Readonly<Record<ToolKind, string>> = {
  reads: 'only read, and pass',
  writes: 'write, and pass; all of them together are counted below',
  destroys: 'destroy or run something: a person is asked',
  unknown: 'nobody can tell what they do: a person is asked. Move them to where they belong',
}

/** `source` says for whom it was made, in a comment; `file` is what the policy is called beside its cases. */
export function starterPolicy(servers: readonly StarterServer[], source: string, file: string): Starter {
  const groups = servers.flatMap((server, i) => groupsOf(server, i))
  const of = (kind: ToolKind): readonly Group[] => groups.filter((group) => group.kind === kind)
  const writes = of('writes')
  const silent = servers.filter(({ tools }) => tools === null)
  const lines = [
    `# A first policy${comment(source)}. Reads and writes pass, what destroys is asked about, and so is what is not listed here.`,
    '# What a tool is was told from its server and from its name: look through it, and move what is wrong.',
    ...silent.map(({ name, why }) => comment(`# ${name} is not in it: ${why ?? 'it did not answer'}`)),
    'policy_id: starter',
    "version: '1'",
    'mode: guardrails',
    'defaults: { decision_on_error: BLOCK }',
    'rules:',
    ...[...of('destroys'), ...of('unknown')].flatMap((group) => ruleText(group, 'deny', ASK)),
    ...[...of('reads'), ...writes].flatMap((group) => ruleText(group, 'allow', ['    effect: {}'])),
    ...writes.flatMap((group) => ruleText({ ...group, ruleId: `few-${group.ruleId}` }, 'budget', BUDGET)),
    '  # Tools that a server gets later, servers that are added, and those that did not answer.',
    '  - rule_id: ask-about-the-rest',
    '    kind: deny',
    '    effect: { action: ASK, message: nobody has said what this does, ask: { question: May the agent do this? } }',
  ]
  const counts = { reads: 0, writes: 0, destroys: 0, unknown: 0 }
  for (const { kind, tools } of groups) counts[kind] += tools.length
  return { policy: `${lines.join('\n')}\n`, cases: casesText(groups, file), counts, leftOut: servers.flatMap(unfit) }
}

const ASK = [
  '    effect: { action: ASK, message: a person has to allow this, ask: { question: May the agent do this? } }',
]
const BUDGET = [
  '    effect:',
  `      message: ${WRITES_OF_A_RUN} writes are enough for one run`,
  `      budget: { limit_calls: ${WRITES_OF_A_RUN}, on_exceed: REJECT_WITH_HINT, hint_text: say what is left to do and stop }`,
]

function groupsOf({ name: server, tools }: StarterServer, index: number): Group[] {
  const byKind = new Map<ToolKind, { name: string; why: string }[]>()
  for (const { name, annotations } of (tools ?? []).filter((one) => isFit(one.name))) {
    const { kind, why } = classifyTool(name, annotations)
    byKind.set(kind, [...(byKind.get(kind) ?? []), { name, why }])
  }
  const slug = server.replace(/[^A-Za-z0-9._-]+/g, '-')
  return [...byKind].map(([kind, found]) => ({
    server,
    kind,
    // Two servers may have names that differ only in what an id does not keep.
    ruleId: `${WORD[kind]}-${slug}${slug === server ? '' : `-${index + 1}`}`,
    tools: found,
  }))
}

function isFit(name: string): boolean {
  return name !== '' && name.length <= POLICY_NAME_CHARS_MAX && !/[\p{Cc}\p{Cf}]/u.test(name)
}

function unfit({ tools }: StarterServer): string[] {
  return (tools ?? []).map(({ name }) => name).filter((name) => !isFit(name))
}

function ruleText({ server, ruleId, tools, kind }: Group, ruleKind: string, effect: readonly string[]): string[] {
  return [
    comment(`  # ${server}: ${ruleKind === 'budget' ? 'so many of them and no more' : SAID[kind]}`),
    `  - rule_id: ${text(ruleId)}`,
    `    kind: ${ruleKind}`,
    '    match:',
    `      server_name: { glob: [${text(glob(server))}] }`,
    '      tool_name:',
    '        glob:',
    ...tools.map(({ name, why }) => `          - ${text(glob(name))}${ruleKind === 'budget' ? '' : ` # ${why}`}`),
    ...effect,
  ]
}

const EXPECTED: Readonly<Record<ToolKind, string>> = {
  reads: 'ALLOW',
  writes: 'ALLOW',
  destroys: 'REJECT_WITH_HINT',
  unknown: 'REJECT_WITH_HINT',
}

function casesText(groups: readonly Group[], file: string): string {
  const cases = groups.flatMap(({ server, kind, ruleId, tools }) => [
    `  - name: ${text(`${server}: ${tools.length} that ${SAID[kind].split(/[,:;.]/, 1)[0] ?? ''}`)}`,
    '    calls:',
    ...tools.map(
      ({ name }) =>
        `      - { server: ${text(server)}, tool: ${text(name)}, expect: { action: ${EXPECTED[kind]}, rule_id: ${text(ruleId)} } }`,
    ),
  ])
  return `${[
    `policy: ${text(file)}`,
    'cases:',
    ...cases,
    '  - name: what is not listed is asked about',
    '    server: somebody-else',
    '    tool: anything',
    '    expect: { action: REJECT_WITH_HINT, rule_id: ask-about-the-rest }',
  ].join('\n')}\n`
}

/** Quoted as JSON does, which YAML reads too. */
function text(value: string): string {
  return /^[A-Za-z][A-Za-z0-9_./-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value)
}

/** A name as a glob that means only it. */
function glob(name: string): string {
  return name.replace(/[*?[\]\\]/g, String.raw`\$&`)
}

/** Names come from files of others, and must not end the comment that they stand in. */
function comment(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')
}
