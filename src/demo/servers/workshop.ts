// The MCP server that the demo's coders work with: files of the project, and its checks.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { resolveInside } from '../../paths.ts'
import { serve } from './mcp-server.ts'

export function workshopServer(): void {
  const root = process.cwd()
  serve('workshop', {
    read_file: {
      description: 'Reads a file of the project',
      inputs: { path: 'string' },
      run: ({ path }) => readFileSync(resolveInside(root, String(path)), 'utf8'),
    },
    write_file: {
      description: 'Writes a file of the project',
      inputs: { path: 'string', text: 'string' },
      run({ path, text }) {
        const file = resolveInside(root, String(path))
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, String(text))
        return `wrote ${String(path)}`
      },
    },
    run_checks: {
      description: 'Looks whether the files of a folder end in a newline',
      inputs: { folder: 'string' },
      run({ folder }) {
        const dir = resolveInside(root, String(folder))
        const files = readdirSync(dir).map((name) => readFileSync(`${dir}/${name}`, 'utf8'))
        const whole = files.filter((text) => text.endsWith('\n')).length
        return `${whole} of ${files.length} files pass`
      },
    },
  })
}
