// The page's entry: providers around the router.
import './shell/language.ts'
import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Feed, FeedContext } from './data/feed.ts'
import { newQueryClient } from './data/query-client.ts'
import { signInFromAddress } from './data/sign-in.ts'
import { router } from './router.tsx'
import { KeysProvider } from './shell/keys.tsx'

const signedIn = signInFromAddress()
const queryClient = newQueryClient()
const feed = new Feed(queryClient, signedIn)
const element = document.querySelector('#root')
if (element === null) throw new Error('the page has no root')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <FeedContext value={feed}>
        <KeysProvider>
          <RouterProvider router={router} />
        </KeysProvider>
      </FeedContext>
    </QueryClientProvider>
  </StrictMode>,
)
