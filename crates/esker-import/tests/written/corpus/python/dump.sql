BEGIN TRANSACTION;
CREATE TABLE pays(sender text, receiver text, amount int);
INSERT INTO "pays" VALUES('ann','bob',3);
INSERT INTO "pays" VALUES('bob','cleo',-4);
INSERT INTO "pays" VALUES('cleo','ann',10);
INSERT INTO "pays" VALUES('dan','ann',2);
INSERT INTO "pays" VALUES('dan','eve',7);
COMMIT;