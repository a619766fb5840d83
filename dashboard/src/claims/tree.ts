// The repository as a tree of folders with their lines, built in slices so that no slice holds up the page.
import type { TreeReply } from '../../../src/hub/contract.ts'

export interface TreeNode {
  readonly name: string
  readonly path: string
  readonly isFile: boolean
  lines: number
  files: number
  /** Ids of the claims that hold it; of a folder, those that hold all of it. */
  claims: readonly string[]
  readonly children: Map<string, TreeNode>
}

const SLICE = 4_000

const folder = (name: string, path: string): TreeNode => ({
  name,
  path,
  isFile: false,
  lines: 0,
  files: 0,
  claims: [],
  children: new Map(),
})

/** Lets the browser draw and hear between slices. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

export async function growTree(files: TreeReply['files'], signal: AbortSignal): Promise<TreeNode> {
  const root = folder('', '')
  for (let from = 0; from < files.length; from += SLICE) {
    if (from > 0) await breathe()
    signal.throwIfAborted()
    for (let index = from; index < Math.min(files.length, from + SLICE); index++) {
      const file = files[index]
      if (file !== undefined) put(root, file)
    }
  }
  shareClaims(root)
  return root
}

/** An empty file is seen, too. */
const weight = (lines: number): number => Math.max(1, lines)

function put(root: TreeNode, file: TreeReply['files'][number]): void {
  let at = root
  let start = 0
  const { path } = file
  for (let slash = path.indexOf('/'); ; slash = path.indexOf('/', start)) {
    at.lines += weight(file.lines)
    at.files += 1
    const name = slash === -1 ? path.slice(start) : path.slice(start, slash)
    if (slash === -1) {
      at.children.set(name, {
        name,
        path,
        isFile: true,
        lines: weight(file.lines),
        files: 1,
        claims: file.claims,
        children: NONE,
      })
      return
    }
    let next = at.children.get(name)
    if (next === undefined || next.isFile) {
      next = folder(name, path.slice(0, slash))
      at.children.set(name, next)
    }
    at = next
    start = slash + 1
  }
}

const NONE: Map<string, TreeNode> = new Map()

/** A folder of which everything is held by the same claims is held by them. */
function shareClaims(node: TreeNode): void {
  if (node.isFile) return
  let shared: readonly string[] | undefined
  for (const child of node.children.values()) {
    shareClaims(child)
    const before: readonly string[] | undefined = shared
    shared = before === undefined ? child.claims : before.filter((id) => child.claims.includes(id))
  }
  node.claims = shared ?? []
}

/** Folders first, each by name. */
export function childrenOf(node: TreeNode): TreeNode[] {
  return [...node.children.values()].sort(
    (one, other) => Number(one.isFile) - Number(other.isFile) || (one.name < other.name ? -1 : 1),
  )
}
