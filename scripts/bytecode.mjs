// Compiles the chunks that starts load with this engine, whole, into dist/code/: a start finds them compiled.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import v8 from 'node:v8'
import vm from 'node:vm'

const [dist, ...names] = process.argv.slice(2)
const code = join(dist, 'code', `${process.version}-${process.platform}-${process.arch}`)
mkdirSync(code, { recursive: true })
for (const name of names) {
  const source = readFileSync(join(dist, 'chunks', name), 'utf8')
  const text = `(function (exports, require, module, __filename, __dirname) { ${source}\n});`
  // All functions, and not only those that run first. The engine takes bytecode only under the flags that it was made with.
  v8.setFlagsFromString('--no-lazy')
  const script = new vm.Script(text, { filename: name })
  v8.setFlagsFromString('--lazy')
  // Behind its text, as src/chunk-loader.ts reads it: that it is of this one is told by the length in front.
  const head = Buffer.alloc(8)
  head.writeUInt32LE(text.length)
  const gap = Buffer.alloc((8 - (text.length % 8)) % 8)
  writeFileSync(join(code, name), Buffer.concat([head, Buffer.from(text, 'latin1'), gap, script.createCachedData()]))
}
