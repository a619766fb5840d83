// Where each folder and file lies on the map. What would be too small to see is not laid out, so that the work is bound by the pixels.
import { hierarchy, type HierarchyRectangularNode, treemap, treemapSquarify } from 'd3-hierarchy'
import type { TreeNode } from './tree.ts'

export interface TreemapCell {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly node: TreeNode
  readonly depth: number
  /** Of a group its whole path, of what is in it the path from there. */
  readonly label: string
  /** A folder that is drawn with a name and what is in it; else one tile. Folders inside of a group keep its files together and are not drawn. */
  readonly isOpen: boolean
}

interface Kept {
  readonly node: TreeNode
  readonly children: readonly Kept[]
}

const CELL_PX2 = 260
const OPEN_PX2 = 2_400
const HEAD_PX = 17

/** Areas are shares of the lines, so that what is too small is known before anything is laid out. */
function keep(node: TreeNode, px2PerLine: number): Kept {
  if (node.isFile || node.lines * px2PerLine < OPEN_PX2) return { node, children: [] }
  const children: Kept[] = []
  let rest = 0
  let restFiles = 0
  let restClaims: readonly string[] | undefined
  for (const child of node.children.values()) {
    if (child.lines * px2PerLine >= CELL_PX2) children.push(keep(child, px2PerLine))
    else {
      rest += child.lines
      restFiles += child.files
      const before: readonly string[] | undefined = restClaims
      restClaims = before === undefined ? child.claims : before.filter((id) => child.claims.includes(id))
    }
  }
  if (rest > 0)
    children.push({
      node: {
        name: `${restFiles} more`,
        path: node.path,
        isFile: true,
        lines: rest,
        files: restFiles,
        claims: restClaims ?? [],
        children: new Map(),
      },
      children: [],
    })
  return { node, children }
}

/** A folder with so much of all that a frame around it would say nothing. */
const MOST = 0.4

/** The groups of the map: folders of the first level, and what is in those that hold most of everything. */
function groupsOf(root: Kept): readonly Kept[] {
  let groups = root.children
  for (;;) {
    const most = groups.find(({ node, children }) => children.length > 1 && node.lines > root.node.lines * MOST)
    if (most === undefined) return groups
    const folders = most.children.filter(({ children }) => children.length > 0)
    if (folders.length === 0) return groups
    const loose = most.children.filter(({ children }) => children.length === 0)
    groups = [
      ...groups.filter((group) => group !== most),
      ...folders,
      ...(loose.length === 0 ? [] : [{ node: ofThose(most.node, loose), children: loose }]),
    ]
  }
}

/** Files next to the folders of a group that was split. */
function ofThose(folder: TreeNode, those: readonly Kept[]): TreeNode {
  return {
    ...folder,
    children: new Map(),
    lines: those.reduce((sum, { node }) => sum + node.lines, 0),
    files: those.reduce((sum, { node }) => sum + node.files, 0),
  }
}

export function layOut(root: TreeNode, width: number, height: number): readonly TreemapCell[] {
  const kept = keep(root, (width * height) / Math.max(1, root.lines))
  const tree = hierarchy<Kept>({ node: root, children: groupsOf(kept) }, ({ children }) => [...children])
  tree.sum(({ node, children }) => (children.length === 0 ? node.lines : 0))
  tree.sort((one, other) => (other.value ?? 0) - (one.value ?? 0))
  const laid = treemap<Kept>()
    .size([width, height])
    .tile(treemapSquarify)
    .paddingOuter((node) => (node.depth === 1 ? 2 : 0))
    .paddingTop((node) => (node.depth === 1 && node.children !== undefined ? HEAD_PX : 0))
    .paddingInner((node) => (node.depth === 0 ? 4 : 2))
    .round(true)(tree)
  return laid.descendants().slice(1).flatMap(cellOf)
}

function cellOf(node: HierarchyRectangularNode<Kept>): TreemapCell[] {
  const { x0, x1, y0, y1, data, depth, children } = node
  if (x1 <= x0 || y1 <= y0) return []
  return [
    {
      x: x0,
      y: y0,
      w: x1 - x0,
      h: y1 - y0,
      node: data.node,
      depth,
      label: labelOf(node),
      isOpen: children !== undefined,
    },
  ]
}

function labelOf({ data: { node }, depth, parent, ...rest }: HierarchyRectangularNode<Kept>): string {
  if (depth === 1) return node.path
  let group = parent
  while (group !== null && group.depth > 1) group = group.parent
  const inside = group === null ? '' : `${group.data.node.path}/`
  const own = node.isFile && node.path === parent?.data.node.path ? `${node.path}/${node.name}` : node.path
  const path = own.startsWith(inside) ? own.slice(inside.length) : own
  return node.isFile || rest.children !== undefined ? path : `${path}/*`
}

/** The innermost cell at a point. */
export function cellAt(cells: readonly TreemapCell[], x: number, y: number): TreemapCell | undefined {
  for (let index = cells.length - 1; index >= 0; index--) {
    const cell = cells[index]
    if (cell !== undefined && !cell.isOpen && x >= cell.x && x < cell.x + cell.w && y >= cell.y && y < cell.y + cell.h)
      return cell
  }
  return cells.findLast(
    (cell) => cell.isOpen && x >= cell.x && x < cell.x + cell.w && y >= cell.y && y < cell.y + cell.h,
  )
}
