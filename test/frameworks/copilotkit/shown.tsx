/** The page of the documentation. */
import { createRoot } from 'react-dom/client'
import Page from '../../../examples/page.tsx'

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<Page />)
