// Commands of the symbol table (`heimdall symbol`, `heimdall-resolve`) and of the blackboard (`heimdall fact`, `heimdall-blackboard`).
import { deleteFact, getFact, listFacts, setFact } from '../../briefing/blackboard.ts'
import {
  findSymbolOf,
  importSymbols,
  listSymbols,
  lookUpSymbol,
  parseImport,
  removeSymbol,
  setSymbol,
} from '../../briefing/symbols.ts'
import { row } from '../../storage/columns.ts'
import { type ArgSpec, type Command, command } from '../command.ts'
import { readInput } from '../input-file.ts'
import { authorOf, briefingNames, planningOf } from '../planning-of.ts'
import { usageError } from '../usage-error.ts'

const ID = '1 to 64 letters, digits, dots, underscores or hyphens'
const idArg = { name: 'id', help: 'the symbol' } as const satisfies ArgSpec
const keyArg = { name: 'key', help: 'the key of the fact' } as const satisfies ArgSpec
const ROWS = 'Tabs, newlines and backslashes in a value are printed as \\t, \\n and \\\\.'

export const commands: readonly Command[] = [
  command({
    names: briefingNames('symbol get', 'resolve'),
    summary: 'Print the value of a symbol',
    about:
      'heimdall-resolve takes its own verbs (set, list, rm, import) first; to look up a symbol with such an id, write\n' +
      'heimdall-resolve -- set, or heimdall symbol get set.',
    args: [{ ...idArg, optional: true }],
    flags: {
      reverse: { value: 'VALUE', help: 'print the first symbol with exactly this value instead' },
    },
    examples: {
      'heimdall symbol get F12': 'prints src/matching/engine.ts',
      'heimdall-resolve --reverse src/matching/engine.ts': 'prints F12',
    },
    output: 'id, value',
    run: async (context, { flags: { reverse }, args }) => {
      const planning = planningOf(context)
      const id = reverse === undefined ? args.id : findSymbolOf(planning, reverse)
      if (id === undefined) throw usageError('ID is missing', `${context.calledAs} --help`)
      const value = reverse ?? lookUpSymbol(planning, id)
      return { data: { id, value }, text: reverse === undefined ? value : id }
    },
  }),
  command({
    names: briefingNames('symbol set', 'resolve set'),
    changes: true,
    summary: 'Give a path, criterion or invariant a short id',
    literal: true,
    args: [
      { name: 'id', help: ID },
      { name: 'value', help: 'what the id stands for; replaces an earlier value' },
    ],
    examples: { 'heimdall symbol set F12 src/matching/engine.ts': 'prints F12 = src/matching/engine.ts' },
    output: 'id, value',
    run: async (context, { args: { id, value } }) => {
      await setSymbol(planningOf(context), id, value)
      return { data: { id, value }, text: `${id} = ${value}` }
    },
  }),
  command({
    names: briefingNames('symbol list', 'resolve list'),
    summary: 'List all symbols, one id<TAB>value per line',
    about: ROWS,
    examples: { 'heimdall symbol list': 'prints the whole symbol table' },
    output: 'symbols: list of {id, value} in the order of the file',
    run: async (context) => {
      const planning = planningOf(context)
      const symbols = [...listSymbols(planning)]
      planning.log('resolve', 'list', `entries=${symbols.length}`)
      return {
        data: { symbols: symbols.map(([id, value]) => ({ id, value })) },
        text: symbols.map(([id, value]) => row(id, value)).join('\n'),
      }
    },
  }),
  command({
    names: briefingNames('symbol remove', 'resolve rm'),
    changes: true,
    summary: 'Remove a symbol',
    args: [idArg],
    examples: { 'heimdall symbol remove F12': 'prints removed F12' },
    output: 'id',
    run: async (context, { args: { id } }) => {
      await removeSymbol(planningOf(context), id)
      return { data: { id }, text: `removed ${id}` }
    },
  }),
  command({
    names: briefingNames('symbol import', 'resolve import'),
    changes: true,
    summary: 'Add many symbols at once: all of them, or none if one is invalid',
    about: 'Reads lines as symbol list prints them, a JSON object {"id":"value"}, or a symbols.json.',
    args: [{ name: 'file', help: 'the file to read; stdin by default, and with -', optional: true }],
    examples: { 'heimdall symbol import symbols.tsv': 'prints imported 42 symbols' },
    output: 'count',
    run: async (context, { args }) => {
      const entries = parseImport(await readInput(context, args.file))
      await importSymbols(planningOf(context), entries)
      return { data: { count: entries.size }, text: `imported ${entries.size} symbols` }
    },
  }),
  command({
    names: briefingNames('fact set', 'blackboard set'),
    changes: true,
    summary: 'Set a fact on the blackboard',
    literal: true,
    args: [
      { name: 'key', help: ID },
      { name: 'value', help: 'the fact; replaces an earlier value' },
    ],
    flags: {
      by: {
        value: 'NAME',
        help: 'author of the fact; default HEIMDALL_HAID, HEIMDALL_AGENT_ID or HEIMDALL_ROLE',
      },
    },
    examples: { 'heimdall fact set dev_port 5173': 'prints dev_port = 5173' },
    output: 'key, value, by (who set it, or null)',
    run: async (context, { flags, args: { key, value } }) => {
      const by = authorOf(context, flags.by)
      await setFact(planningOf(context), key, value, by)
      return { data: { key, value, by }, text: `${key} = ${value}` }
    },
  }),
  command({
    names: briefingNames('fact get', 'blackboard get'),
    summary: 'Print a fact from the blackboard',
    args: [keyArg],
    flags: {
      'max-age': { type: 'duration', value: 'AGE', help: 'fail if the fact is older than this, or of unknown age' },
    },
    examples: {
      'heimdall fact get dev_port': 'prints 5173',
      'heimdall fact get dev_port --max-age 1h': 'fails if the fact was set more than an hour ago',
    },
    output: 'key, value, by (who set it, or null), ts (when, or null)',
    run: async (context, { flags, args }) => {
      const { key, value, by = null, ts = null } = getFact(planningOf(context), args.key, flags['max-age'])
      return { data: { key, value, by, ts }, text: value }
    },
  }),
  command({
    names: briefingNames('fact list', 'blackboard list'),
    summary: 'List all facts, one key<TAB>value per line',
    about: ROWS,
    examples: { 'heimdall fact list': 'prints the whole blackboard' },
    output: 'facts: list of {key, value, by, ts}',
    run: async (context) => {
      const planning = planningOf(context)
      const facts = listFacts(planning)
      planning.log('blackboard', 'list', `entries=${facts.length}`)
      return {
        data: { facts: facts.map(({ key, value, by = null, ts = null }) => ({ key, value, by, ts })) },
        text: facts.map(({ key, value }) => row(key, value)).join('\n'),
      }
    },
  }),
  command({
    names: briefingNames('fact remove', 'blackboard del'),
    changes: true,
    summary: 'Remove a fact from the blackboard',
    args: [{ ...keyArg, help: 'the key of the fact; an unknown key is not an error' }],
    examples: { 'heimdall fact remove dev_port': 'prints removed dev_port' },
    output: 'key, deleted (false if there was no such fact)',
    run: async (context, { args: { key } }) => {
      const deleted = await deleteFact(planningOf(context), key)
      // Seed 000: the launcher prints the same line for a key that does not exist.
      const text = context.isSeedName ? `deleted ${key}` : deleted ? `removed ${key}` : `no fact ${key}`
      return { data: { key, deleted }, text }
    },
  }),
]
