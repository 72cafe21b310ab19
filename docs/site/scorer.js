// What a found page is worth in the search: prose and headings before names of the API, a parameter last.
var Scorer = {
  objNameMatch: 12,
  objPartialMatch: 1,
  objPrio: {0: 3, 1: 2, 2: 0},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 10,
  term: 5,
  partialTerm: 2,
};
