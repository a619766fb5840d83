// Claims: the repository as a map and a tree, holders, collisions, and what can be done.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import type { ClaimsReply, TreeReply } from '../../../src/hub/contract.ts'
import { Chip } from '../components/controls.tsx'
import { Failed, Empty, Loading, QueryPart } from '../components/feedback.tsx'
import { plural } from '../components/format.ts'
import { Icon } from '../components/icons.tsx'
import { useTerminalCommand } from '../shell/foot.tsx'
import { FileTree } from './file-tree.tsx'
import { factsOf } from './holding.ts'
import { MapCanvas } from './map-canvas.tsx'
import { PathDetail } from './path-detail.tsx'
import { growTree, type TreeNode } from './tree.ts'
import { claimsQuery, treeQuery } from '../data/queries.ts'
import { cx } from '../components/cx.ts'
import css from './claims.module.css'

const route = getRouteApi('/claims/$')

export default function ClaimsScreen(): ReactNode {
  const { _splat: path = '' } = route.useParams()
  const navigate = route.useNavigate()
  const claims = useQuery(claimsQuery())
  const tree = useQuery(treeQuery())
  const root = useTree(tree.data)
  const open = claims.data?.incursions.filter(({ is_open }) => is_open) ?? []
  const shown = (path || undefined) ?? open[0]?.scope ?? claims.data?.claims[0]?.scopes[0] ?? null
  useTerminalCommand(shown === null ? 'heimdall claim list' : `heimdall why ${shown}`)
  const facts = useMemo(() => (claims.data === undefined ? undefined : factsOf(claims.data)), [claims.data])
  const select = (chosen: string): void => void navigate({ to: '/claims/$', params: { _splat: chosen } })
  return (
    <div className={cx('column fill', css.claims)}>
      <div className="page-head">
        <h1>Claims</h1>
        {claims.data !== undefined && <Sums reply={claims.data} root={root} />}
        {open.length > 0 && (
          <Chip isOn={false} onPress={() => select(open[0]?.scope ?? '')}>
            <span className="state collision">
              <Icon name="bow" size={12} />
            </span>
            <b>{open.length}</b> open {open.length === 1 ? 'collision' : 'collisions'}
          </Chip>
        )}
      </div>
      <QueryPart what="claims" query={claims}>
        {(reply) => (
          <div className={cx('fill', css.claimsPanes)}>
            <section className={cx('pane', css.claimsTree)} aria-label="Tree">
              {root !== undefined && facts !== undefined && (
                <FileTree root={root} facts={facts} selected={shown} onSelect={select} />
              )}
            </section>
            <section className={cx('column', css.claimsMap)} aria-label="Map">
              {tree.error !== null && root === undefined ? (
                <Failed what="No map" error={tree.error} />
              ) : root === undefined || facts === undefined ? (
                <Loading what="the map" />
              ) : (
                <MapCanvas root={root} facts={facts} selected={shown} onSelect={select} />
              )}
              <p className="meta legend">
                <i className={css.held} /> held, colour and letters say by whom <i className={css.hatched} /> holder
                stale <i className={css.free} /> free <i className="clash" /> incursion <span className="grow" />
                area: lines
                {tree.data !== undefined &&
                  tree.data.left_out > 0 &&
                  `; ${plural(tree.data.left_out, 'file')} left out`}
              </p>
            </section>
            {shown === null ? <NothingClaimed /> : <PathDetail path={shown} reply={reply} />}
          </div>
        )}
      </QueryPart>
    </div>
  )
}

function NothingClaimed(): ReactNode {
  return (
    <section className={cx('pane scroll', css.pathDetail)} aria-label="This path">
      <Empty title="Nothing is claimed">
        An agent that writes claims the paths first, by hooks or by <code>heimdall claim src/api</code>. Choose a path
        for its history.
      </Empty>
    </section>
  )
}

function useTree(reply: TreeReply | undefined): TreeNode | undefined {
  const [root, setRoot] = useState<TreeNode | undefined>()
  useEffect(() => {
    if (reply === undefined) return
    const abort = new AbortController()
    growTree(reply.files, abort.signal).then(setRoot, (error: unknown) => {
      if (!abort.signal.aborted) throw error
    })
    return () => abort.abort()
  }, [reply])
  return root
}

function Sums({ reply, root }: { readonly reply: ClaimsReply; readonly root: TreeNode | undefined }): ReactNode {
  const agents = new Set(reply.claims.map(({ agent_id }) => agent_id)).size
  const stale = new Set(reply.claims.filter(({ liveness }) => liveness !== 'active').map(({ agent_id }) => agent_id))
    .size
  return (
    <span className="second">
      {reply.claims.length === 0
        ? 'no claims now'
        : `${plural(reply.claims.length, 'claim')} by ${plural(agents, 'agent')} now`}
      {reply.claims.length > 0 &&
        root !== undefined &&
        root.lines > 0 &&
        `, on ${Math.round((heldLines(root) / root.lines) * 100)} % of lines`}
      {stale > 0 && `; ${plural(stale, 'stale holder')}`}
    </span>
  )
}

function heldLines(node: TreeNode): number {
  if (node.claims.length > 0) return node.lines
  let sum = 0
  for (const child of node.children.values()) sum += heldLines(child)
  return sum
}
