// Files of other programs are replaced whole, through links, with their mode; and not at all when their owner was faster.
import {
  chmodSync,
  chownSync,
  lstatSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rewriteFile } from '../../src/storage/rewrite-file.ts'
import { temporaryFolder } from '../support/project.ts'
import { needs } from '../support/needs.ts'

test('through a link, with the mode of the file behind it', () => {
  const folder = temporaryFolder()
  const real = join(folder, 'real')
  writeFileSync(real, 'before')
  chmodSync(real, 0o664)
  symlinkSync('real', join(folder, 'link'))
  expect(rewriteFile(join(folder, 'link'), Buffer.from('before'), Buffer.from('after'))).toBe(true)
  expect(readFileSync(real, 'utf8')).toBe('after')
  expect(statSync(real).mode & 0o777).toBe(0o664)
  expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true)
  expect(readdirSync(folder).sort()).toEqual(['link', 'real'])
})

test('nothing is written over what somebody else wrote meanwhile', () => {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, 'by its owner')
  expect(rewriteFile(path, Buffer.from('before'), Buffer.from('after'))).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('by its owner')
})

test('root gives it back to its owner', () => {
  needs('root')
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, 'before')
  chownSync(path, 1234, 5678)
  expect(rewriteFile(path, Buffer.from('before'), Buffer.from('after'))).toBe(true)
  expect(statSync(path)).toMatchObject({ uid: 1234, gid: 5678 })
})
