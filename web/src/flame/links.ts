// What one part of a profile asks another to show: a clause its operators in the graph, a frame its callers and callees.
// null: there is nothing that could show it.

export class Links {
  clause: ((explanation: number, clause: number) => void) | null = null; // indices of the document's
  function: ((subject: number, method: string, of: number) => void) | null = null;
}
