// Licences of what is bundled: noted while bundling, written beside the bundles.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A plugin that notes packages, and the writer of what it has noted. */
export function licences() {
  const bundled = new Map()
  const note = (folder) => bundled.set(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  return {
    note,
    plugin: {
      name: 'note-packages',
      moduleParsed({ id }) {
        const folder = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
        if (folder !== undefined) note(folder)
      },
    },
    write(path) {
      const texts = [...bundled].map(([folder, { name, version: of, license }]) => {
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
        return `${name} ${of} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`
      })
      writeFileSync(path, [...new Set(texts)].sort().join(`\n${'-'.repeat(72)}\n\n`))
    },
  }
}
