// Commands for what finished work leaves to other agents: `heimdall capsule`, and the launcher `heimdall-task-result`.
import { hydratedText } from '../../briefing/capsule-text.ts'
import { closureIds, hydrate, listCapsules, showCapsule, writeCapsule } from '../../briefing/capsules.ts'
import { printable } from '../../ids.ts'
import { type ArgSpec, type Command, command, type FlagSpec } from '../command.ts'
import { briefingNames, listOf, logCost, loggedFlags, newMessageId, planningOf } from '../planning-of.ts'
import { usageError } from '../usage-error.ts'

const capsuleFlags = {
  what: { value: 'TEXT', required: true, help: 'what was done' },
  where: { value: 'TEXT', help: 'where: a path or a symbol' },
  decision: { value: 'TEXT', help: 'what was decided' },
  gotcha: { value: 'TEXT', help: 'what the next agent must know' },
  depends: { value: 'IDS', help: 'capsules that this one builds on, separated by commas' },
} as const satisfies Record<string, FlagSpec>
const capsuleId = { name: 'id', help: 'id of the capsule: a wave or a task' } as const satisfies ArgSpec
const capsuleIds = { name: 'ids', help: 'the capsules', variadic: true } as const satisfies ArgSpec

export const commands: readonly Command[] = [
  command({
    names: briefingNames('capsule write', 'capsule write'),
    changes: true,
    summary: 'Write a capsule: what finished work leaves for others, in at most ten lines',
    about: 'A capsule of more than ten lines is rejected, and the previous one stays.',
    args: [capsuleId],
    flags: capsuleFlags,
    examples: {
      'heimdall capsule write w2 --what "added book diff" --where F13 --depends w1':
        'prints wrote .planning/protocol/capsules/w2.md (7 lines)',
    },
    output: 'id, path, lines, depends, missing (dependencies that do not exist yet)',
    run: async (context, { flags, args: { id } }) => {
      const planning = planningOf(context)
      const depends = listOf(flags.depends)
      const { path, lines } = writeCapsule(planning, id, { ...flags, depends })
      const known = depends.length === 0 ? [] : listCapsules(planning)
      const missing = depends.filter((one) => !known.includes(one))
      if (missing.length > 0)
        context.note(`note: ${id} depends on capsules that do not exist yet: ${missing.join(', ')}`)
      return { data: { id, path, lines, depends, missing }, text: `wrote ${path} (${lines} lines)` }
    },
  }),
  command({
    names: briefingNames('capsule show', 'capsule show'),
    summary: 'Print a capsule',
    args: [capsuleId],
    examples: { 'heimdall capsule show w1': 'prints the file of capsule w1' },
    output: 'id, body',
    run: async (context, { args: { id } }) => {
      const body = showCapsule(planningOf(context), id)
      return { data: { id, body }, text: body.replace(/\n$/, '') }
    },
  }),
  command({
    names: briefingNames('capsule list', 'capsule list'),
    summary: 'List the ids of all capsules',
    examples: { 'heimdall capsule list': 'prints one id per line' },
    output: 'capsules: list of ids',
    run: async (context) => {
      const planning = planningOf(context)
      const capsules = listCapsules(planning)
      planning.log('capsule', 'list', `entries=${capsules.length}`)
      return { data: { capsules }, text: capsules.join('\n') }
    },
  }),
  command({
    names: briefingNames('capsule deps', 'capsule deps'),
    summary: 'List capsules and all their dependencies, dependencies first',
    args: [capsuleIds],
    examples: { 'heimdall capsule deps w2': 'prints w1 and w2, one per line' },
    output: 'closure: list of ids, dependencies first',
    run: async (context, { args }) => {
      const closure = closureIds(planningOf(context), args.ids)
      return { data: { closure }, text: closure.join('\n') }
    },
  }),
  command({
    names: briefingNames('capsule hydrate', 'capsule hydrate'),
    summary: 'Print capsules with all their dependencies, dependencies first',
    about: 'A missing dependency or a cycle is an error, and nothing is printed.',
    args: [capsuleIds],
    flags: loggedFlags,
    examples: { 'heimdall capsule hydrate w2': 'prints w1, then w2' },
    output: 'body: the capsules, separated by blank lines',
    run: async (context, { flags, args }) => {
      const planning = planningOf(context)
      const body = hydrate(planning, args.ids).map(hydratedText).join('\n')
      const id = flags['msg-id'] ?? newMessageId(context, 'h')
      await logCost(context, planning, { role: flags.role, kind: 'hydration', msgId: id }, body)
      return { data: { body }, text: body.replace(/\n$/, '') }
    },
  }),
  command({
    names: ['heimdall-task-result done', 'heimdall-protocol task-result done'],
    changes: true,
    summary: 'Finish a task: write its capsule and print its task_result message',
    about:
      'The capsule has the id of the task. If the capsule or the message is invalid, neither is written; exit code 1.',
    flags: {
      task: { value: 'ID', required: true, help: 'id of the task' },
      status: { choices: ['pass', 'fail', 'partial'], required: true, help: 'result of the task' },
      from: { value: 'ROLE', required: true, help: 'the role that did it' },
      ...capsuleFlags,
      criteria: { value: 'NUMBERS', help: 'criteria that are met, separated by commas' },
      commit: { value: 'HASH', help: 'the commit' },
      ...loggedFlags,
    },
    examples: {
      'heimdall-task-result done --task 3.2 --status pass --from coder --what "added book diff" --criteria 1,2 --commit a2ef507':
        'writes capsule 3.2 and prints the message',
    },
    output: 'the message: type (task_result), task, status, capsule',
    run: async (context, { flags }) => {
      const { finishTask } = await import('../../briefing/task-result.ts')
      const planning = planningOf(context)
      const id = flags['msg-id'] ?? newMessageId(context, 'tr')
      const criteria = listOf(flags.criteria).map((entry) => {
        if (/^\d{1,9}$/.test(entry)) return Number(entry)
        throw usageError(`--criteria takes whole numbers such as 1,2,4; got ${printable(entry)}`)
      })
      const message = finishTask(planning, { ...flags, msgId: id, criteria, depends: listOf(flags.depends) })
      const text = JSON.stringify(message)
      await logCost(context, planning, { role: flags.role, kind: message.type, msgId: id }, text)
      return { data: message, seedJson: message, text }
    },
  }),
]
