// The ledger's pages over MCP: capsules and finished work to read, decisions and conflicts to add (seed 000 T-4).
import { relative } from 'node:path'
import { listCapsules, showCapsule } from '../../briefing/capsules.ts'
import { FILES } from '../../briefing/planning.ts'
import { isoSeconds } from '../../clock.ts'
import { listCompleted, readCompleted } from '../../coordination/ledger/completed.ts'
import { raiseConflict, recordDecision } from '../../coordination/ledger/decisions-on-record.ts'
import { ledgerDir } from '../../coordination/ledger/ledger-files.ts'
import { MCP_BODY_CHARS_MAX } from '../../limits.ts'
import { fence, label } from '../../fence.ts'
import { page } from '../page.ts'
import { type ToolCaller, tool } from '../tool.ts'

export const readCapsules = tool({
  name: 'read_capsules',
  about: 'List capsules and finished work by id; with id, its text. For a capsule with its dependencies use hydrate.',
  readOnly: true,
  args: { id: 'text', cursor: 'text', max_tokens: 'count' },
  run(caller, { id, cursor, max_tokens }) {
    const { haid, desk } = caller
    const { project, planning } = desk
    if (id !== undefined) {
      const capsules = bodies(caller, id)
      planning.log('mcp', 'read-capsules', `${haid} ${id}`)
      return { data: { haid, capsules, count: 1 } }
    }
    const all = [
      ...listCompleted(project).map((name) => ({ id: name, source: 'completed' })),
      ...listCapsules(planning).map((name) => ({ id: name, source: 'protocol' })),
    ]
    const { items, next } = page(all, { cursor, maxTokens: max_tokens, keyOf: ({ id, source }) => `${source}/${id}` })
    return { data: { haid, count: all.length, ...next, capsules: items } }
  },
})

function bodies({ desk }: ToolCaller, id: string): object[] {
  const { project, planning, randomBytes } = desk
  const completed = readCompleted(project, id)
  // Without a page of that id the capsule is asked for, and says so when there is none either.
  const capsule = completed === undefined || listCapsules(planning).includes(id) ? showCapsule(planning, id) : undefined
  const item = (source: string, file: string, text: string): object => {
    const path = relative(project.root, file)
    const body = fence(text, { from: `${source}/${id}`, charsMax: MCP_BODY_CHARS_MAX, more: path, randomBytes })
    return { id, source, path, body }
  }
  return [
    ...(completed === undefined ? [] : [item('completed', completed.path, completed.text)]),
    ...(capsule === undefined ? [] : [item('protocol', `${planning.dir}/${FILES.capsules}/${id}.md`, capsule)]),
  ]
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
