import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chunkLoader } from './chunk-loader.ts'

let dist: string
const code = (): string => join(dist, 'code', `${process.version}-${process.platform}-${process.arch}`)
const chunk = (name: string, source: string): void => writeFileSync(join(dist, 'chunks', name), source)
const compile = (...names: string[]): void =>
  void execFileSync(process.execPath, ['scripts/bytecode.mjs', dist, ...names])
const refuse = (id: string): never => {
  throw new Error(`asked for ${id}`)
}

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'hm-chunks-'))
  mkdirSync(join(dist, 'chunks'))
})

afterEach(() => rmSync(dist, { recursive: true, force: true }))

test('chunks are run once, see each other in a circle, and know where they lie; all else is asked for elsewhere', () => {
  chunk(
    'a-1.cjs',
    'exports.runs=(exports.runs??0)+1;exports.b=require("./b-2.cjs");exports.here=[__filename,__dirname]',
  )
  chunk('b-2.cjs', 'const a=require("./a-1.cjs");exports.sawRuns=a.runs;exports.path=require("node:path")')
  const asked: string[] = []
  const load = chunkLoader(dist, (id) => asked.push(id))
  const a = load('./chunks/a-1.cjs') as { runs: number; b: { sawRuns: number }; here: string[] }
  expect(load('./a-1.cjs')).toBe(a)
  expect(a.runs).toBe(1)
  expect(a.b.sawRuns).toBe(1)
  expect(a.here).toEqual([join(dist, 'chunks/a-1.cjs'), join(dist, 'chunks')])
  expect(asked).toEqual(['node:path'])
})

test('a chunk with bytecode does what its text says, also in functions that run later', () => {
  chunk('a-1.cjs', 'exports.twice=(n)=>{const inner=(m)=>m*2;return inner(n)};exports.text="◆"')
  compile('a-1.cjs')
  const { twice, text } = chunkLoader(dist, refuse)('./a-1.cjs') as { twice: (n: number) => number; text: string }
  expect([twice(21), text]).toEqual([42, '◆'])
})

test.each([
  ['nothing', ''],
  ['garbage', 'not bytecode at all'],
])('bytecode that is %s costs time and nothing else', (_, bytes) => {
  chunk('a-1.cjs', 'exports.value=1')
  mkdirSync(code(), { recursive: true })
  writeFileSync(join(code(), 'a-1.cjs'), bytes)
  expect(chunkLoader(dist, refuse)('./a-1.cjs')).toEqual({ value: 1 })
})

test('of a chunk that was edited its own text counts', () => {
  chunk('a-1.cjs', 'exports.value="of the build"')
  compile('a-1.cjs')
  chunk('a-1.cjs', 'exports.value="edited"')
  expect(chunkLoader(dist, refuse)('./a-1.cjs')).toEqual({ value: 'edited' })
})

test('a file of bytecode that was cut anywhere costs time and nothing else', () => {
  chunk('a-1.cjs', 'exports.value=(()=>1)()')
  compile('a-1.cjs')
  const whole = readFileSync(join(code(), 'a-1.cjs'))
  for (let bytes = 0; bytes < whole.length; bytes += 7) {
    writeFileSync(join(code(), 'a-1.cjs'), whole.subarray(0, bytes))
    expect(chunkLoader(dist, refuse)('./a-1.cjs')).toEqual({ value: 1 })
  }
})

test('what is not there is said with its name', () => {
  expect(() => chunkLoader(dist, refuse)('./gone-1.cjs')).toThrow(/gone-1\.cjs/)
})

test('this engine takes the bytecode of the build', () => {
  const folder = join('dist/code', `${process.version}-${process.platform}-${process.arch}`)
  const names = readdirSync(folder)
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) {
    const source = readFileSync(join('dist/chunks', name))
    const text = `(function (exports, require, module, __filename, __dirname) { ${source.toString('utf8')}\n});`
    const file = readFileSync(join(folder, name))
    expect([name, file.toString('latin1', 8, 8 + text.length) === text]).toEqual([name, true])
    // A single letter past Latin-1 doubles what a start has to put into memory.
    expect([name, source.every((byte) => byte < 0x80)]).toEqual([name, true])
    const script = new Script(text, { filename: name, cachedData: file.subarray(8 * Math.ceil((8 + text.length) / 8)) })
    expect([name, script.cachedDataRejected]).toEqual([name, false])
  }
})
