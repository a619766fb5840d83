// The tree next to the map: the same for the keyboard and the screen reader, with only the rows in sight.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { AgentMark } from '../components/agent-mark.tsx'
import { Icon } from '../components/icons.tsx'
import { useListKeys } from '../shell/keys.tsx'
import { type ClaimFacts, holdingOf } from './holding.ts'
import { childrenOf, type TreeNode } from './tree.ts'
import { cx } from '../components/cx.ts'
import css from './claims.module.css'

interface FileTreeProps {
  readonly root: TreeNode
  readonly facts: ClaimFacts
  readonly selected: string | null
  readonly onSelect: (path: string) => void
}

interface Row {
  readonly node: TreeNode
  readonly depth: number
  readonly isOpen: boolean
}

function rowsOf(root: TreeNode, opened: ReadonlySet<string>): readonly Row[] {
  const rows: Row[] = []
  const walk = (node: TreeNode, depth: number): void => {
    for (const child of childrenOf(node)) {
      const isOpen = !child.isFile && opened.has(child.path)
      rows.push({ node: child, depth, isOpen })
      if (isOpen) walk(child, depth + 1)
    }
  }
  walk(root, 0)
  return rows
}

/** Open at first: the way to what is selected, and the first level. */
function openedFor(root: TreeNode, selected: string | null): ReadonlySet<string> {
  const paths = new Set(
    childrenOf(root)
      .filter(({ isFile, files }) => !isFile && files < 400)
      .map(({ path }) => path),
  )
  const parts = (selected ?? '').split('/')
  for (let end = 1; end < parts.length; end++) paths.add(parts.slice(0, end).join('/'))
  return paths
}

export function FileTree({ root, facts, selected, onSelect }: FileTreeProps): ReactNode {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const opened = useMemo(() => {
    const open = new Set(openedFor(root, selected))
    for (const [path, isOpen] of toggled) {
      if (isOpen) open.add(path)
      else open.delete(path)
    }
    return open
  }, [root, selected, toggled])
  const rows = useMemo(() => rowsOf(root, opened), [root, opened])
  const scroll = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 24,
    overscan: 20,
  })
  const at = rows.findIndex(({ node }) => node.path === selected)
  const select = (row: Row): void => {
    virtual.scrollToIndex(rows.indexOf(row))
    onSelect(row.node.path)
  }
  const toggle = (path: string): void => setToggled((before) => new Map(before).set(path, !opened.has(path)))
  useListKeys(rows, at, select, { Enter: () => selected !== null && toggle(selected) })
  return (
    <div className={cx('scroll', css.tree)} ref={scroll} role="tree" aria-label="Files" tabIndex={0}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const { node, depth, isOpen } = row
          const { holders, isCollision, isStale } = holdingOf(node, facts)
          return (
            <div
              key={node.path}
              role="treeitem"
              aria-level={depth + 1}
              aria-selected={node.path === selected}
              aria-expanded={node.isFile ? undefined : isOpen}
              className={isCollision ? cx('clash middle', css.treeRow) : cx('middle', css.treeRow)}
              style={{ transform: `translateY(${start}px)`, paddingLeft: 8 + depth * 14 }}
              onClick={() => {
                if (!node.isFile) toggle(node.path)
                onSelect(node.path)
              }}
            >
              <Icon name={node.isFile ? 'file' : 'folder'} size={13} />
              <span className="mono cut grow">{node.name}</span>
              {isCollision && (
                <span className="is-clash">
                  <Icon name="bow" size={11} />
                </span>
              )}
              {isStale && (
                <span className="is-stale">
                  <Icon name="broken" size={11} />
                </span>
              )}
              {holders.slice(0, 2).map((holder) => (
                <AgentMark key={holder} name={holder} />
              ))}
              <span className="hidden-text">
                {holders.length > 0 && `held by ${holders.join(', ')}`}
                {isStale && ', stale'}
                {isCollision && ', collision'}
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}
