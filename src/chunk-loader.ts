// Loads the chunks of dist/ for its entries: in one step each, and with the bytecode that the build has made of them where this is the same engine. Node would look for every one of them in six places and compile it anew.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'

type Require = (id: string) => unknown

interface Chunk {
  exports: unknown
}

type Body = (exports: unknown, require: Require, chunk: Chunk, filename: string, dirname: string) => void

const OURS = /^\.(?:\/chunks)?\/([\w.-]+\.cjs)$/

/** What an entry of `dist/` uses in the place of its own `require`. */
export function chunkLoader(dist: string, otherwise: Require): Require {
  const dir = join(dist, 'chunks')
  const loaded = new Map<string, Chunk>()
  const load: Require = (id) => {
    const name = OURS.exec(id)?.[1]
    if (name === undefined) return otherwise(id)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const chunk: Chunk = { exports: {} }
    loaded.set(name, chunk)
    const filename = join(dir, name)
    compiled(filename, join(dist, CODE, name))(chunk.exports, load, chunk, filename, dir)
    return chunk.exports
  }
  return load
}

/** Bytecode is of one build of the engine, which looks at little more than its version: any other Node compiles, as it would without. */
const CODE = `code/${process.version}-${process.platform}-${process.arch}`

/** As Node wraps a CommonJS module, and as the build compiles it. */
const BEFORE = '(function (exports, require, module, __filename, __dirname) { '
const AFTER = '\n});'

/** A file of bytecode: the length of the text, the text as it is compiled, in ASCII, and behind it the bytecode. Each begins at a multiple of this: from elsewhere the engine would copy. */
const ALIGNED = 8

function compiled(filename: string, code: string): Body {
  const file = ifThere(code)
  const length = BEFORE.length + statSync(filename).size + AFTER.length
  // A chunk that somebody has edited is another one, and has another length: its own text counts then. What the build has
  // made is not read twice.
  const isOfChunk = file !== undefined && file.length > ALIGNED + length && file.readUInt32LE(0) === length
  const script = new Script(
    isOfChunk ? file.toString('latin1', ALIGNED, ALIGNED + length) : BEFORE + readFileSync(filename, 'utf8') + AFTER,
    {
      filename,
      ...(isOfChunk ? { cachedData: file.subarray(Math.ceil((ALIGNED + length) / ALIGNED) * ALIGNED) } : {}),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    },
  )
  return script.runInThisContext() as Body
}

function ifThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    // Not `isErrno`: the chunk of errors would be loaded by what loads chunks.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
