// The ledger's pages over MCP: capsules and finished work to read, decisions and conflicts to add (seed 000 T-4).
import { relative } from 'node:path'
import { listCapsules, readCapsule, showCapsule } from '../../briefing/capsules.ts'
import { FILES } from '../../briefing/planning.ts'
import { isoSeconds } from '../../clock.ts'
import { listCompleted, readCompleted } from '../../coordination/ledger/completed.ts'
import { raiseConflict, recordDecision } from '../../coordination/ledger/decisions-on-record.ts'
import { ledgerDir } from '../../coordination/ledger/ledger-files.ts'
import { MCP_BODY_CHARS_MAX } from '../../limits.ts'
import { fence, label } from '../../fence.ts'
import { pageOf } from '../page.ts'
import { type ToolCaller, tool } from '../tool.ts'

export const readCapsules = tool({
  name: 'read_capsules',
  about:
    'Capsules and finished work with their texts, all or by id. Pages: cursor, max_tokens. With dependencies: hydrate.',
  readOnly: true,
  args: { id: 'text', cursor: 'text', max_tokens: 'count' },
  run(caller, { id, cursor, max_tokens }) {
    const { haid, desk } = caller
    const { project, planning } = desk
    const all: CapsuleRef[] = [
      ...listCompleted(project).map((name) => ({ id: name, source: 'completed' as const })),
      ...listCapsules(planning).map((name) => ({ id: name, source: 'protocol' as const })),
    ]
    const named = id === undefined ? all : all.filter((one) => one.id === id)
    // Says that there is none of that id, and logs it.
    if (id !== undefined && named.length === 0) showCapsule(planning, id)
    const keyOf = ({ id, source }: CapsuleRef): string => `${source}/${id}`
    const { items, next } = pageOf(named, { cursor, maxTokens: max_tokens, keyOf }, (one) => body(caller, one))
    planning.log('mcp', 'read-capsules', `${haid} ${id ?? `${items.length} of ${all.length}`}`)
    return { data: { haid, count: named.length, ...next, capsules: items } }
  },
})

interface CapsuleRef {
  readonly id: string
  readonly source: 'completed' | 'protocol'
}

function body({ desk }: ToolCaller, { id, source }: CapsuleRef): object {
  const { project, planning, randomBytes } = desk
  const completed = source === 'completed' ? readCompleted(project, id) : undefined
  const path = relative(project.root, completed?.path ?? `${planning.dir}/${FILES.capsules}/${id}.md`)
  const text = completed?.text ?? readCapsule(planning, id) ?? ''
  return {
    id,
    source,
    path,
    body: fence(text, { from: `${source}/${id}`, charsMax: MCP_BODY_CHARS_MAX, more: path, randomBytes }),
  }
}

export const appendDecision = tool({
  name: 'append_decision',
  about: 'Add a decision to decisions.md under your name. Entries are never changed.',
  args: { title: 'text', body: 'text' },
  required: ['title', 'body'],
  async run(caller, { title, body }) {
    const room = await caller.desk.room()
    const wallMs = await recordDecision(room, caller.actor, { title, body })
    return { data: { appended: true, haid: caller.haid, timestamp: isoSeconds(wallMs), title } }
  },
})

export const raiseConflictPr = tool({
  name: 'raise_conflict_pr',
  about: 'Record a conflict; work you displace is kept on a branch.',
  args: {
    id: 'text',
    title: 'text',
    surfaces: 'texts',
    displaced_haid: 'text',
    overriding_intent: 'text',
    displaced_intent: 'text',
  },
  required: ['id', 'title', 'surfaces'],
  async run(caller, input) {
    const room = await caller.desk.room()
    const raised = await raiseConflict(room, caller.actor, caller.desk.env, {
      id: input.id,
      title: input.title,
      surfaces: input.surfaces,
      displacedHaid: input.displaced_haid,
      overridingIntent: input.overriding_intent,
      displacedIntent: input.displaced_intent,
    })
    const path = relative(room.project.root, `${ledgerDir(room.project)}/${raised.page}`)
    const { branch, commit } = raised.preserved
    return {
      data: {
        haid: caller.haid,
        conflict_file: path,
        relative_path: path,
        displaced_haid: raised.displacedHaid,
        preserved_branch: branch,
        preserved_commit: commit,
        preserved_paths: raised.paths.slice(0, 50).map((kept) => label(kept, 240)),
        pr_path: `git push origin ${branch}, then open a pull request from it with ${path} as its text`,
      },
    }
  },
})
