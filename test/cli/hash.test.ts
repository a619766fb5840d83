// heimdall hash as a person and a script meet it.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'

async function hash(stdin: string, ...flags: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const { code, stdout, stderr } = await runLauncher('heimdall', ['hash', ...flags], { stdin })
  return { code, out: stdout, err: stderr }
}

test('HASH-002: the hash of two numbers, whatever their order', async () => {
  const golden = '43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777'
  expect(await hash('{"b":2, "a":1}')).toEqual({ code: 0, out: `${golden}\n`, err: '' })
  expect((await hash('{"a":1,"b":2.0}')).out).toBe(`${golden}\n`)
  expect(JSON.parse((await hash('{"a":1,"b":2}', '--json')).out)).toMatchObject({ ok: true, data: { hash: golden } })
})

test('--canonical prints the canonical text', async () => {
  expect((await hash('{"b":[1.50, 9007199254740993], "a":"\\u0041"}', '--canonical')).out).toBe(
    '{"a":"A","b":[1.5,9007199254740993]}\n',
  )
})

test('what has no canonical form is refused with its code', async () => {
  expect(await hash('{"a":1,"a":2}')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('duplicate key "a"') as string,
  })
  expect(JSON.parse((await hash('[1,', '--json')).out)).toMatchObject({ ok: false, error: { code: 'JSON_MALFORMED' } })
})

test('the library door is the same function', async () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  const door = (await import(resolve(exports['./canonical']?.default ?? ''))) as {
    canonicalHash(source: string): string
  }
  expect(`${door.canonicalHash('{"b":2,"a":1}')}\n`).toBe((await hash('{"a":1,"b":2}')).out)
})
