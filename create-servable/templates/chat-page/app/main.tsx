import { createRoot } from 'react-dom/client'
import './styles.css'
import { Chat } from './chat.tsx'

createRoot(document.getElementById('root')!).render(<Chat />)
